"""Guards in real jobs: the fault is injected into training with torch."""

from __future__ import annotations

import pytest
from job_kit import bundle_job, notebook_job, write_bundle

from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy, JobExit, RunState
from jupyter_clusterbridge.runtime.guarding import read_trips

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

SETUP = (
    "import torch, time\n"
    "torch.set_num_threads(1)\n"
    "model = torch.nn.Linear(2, 1)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "def step(scale=1.0):\n"
    "    optimizer.zero_grad()\n"
    "    (model(torch.ones(4, 2)).mean() * scale).backward()\n"
    "    optimizer.step()"
)


def test_a_nan_loss_stops_the_job_at_its_step(tmp_path):
    train = "for number in range(1, 20):\n    step(float('nan') if number == 7 else 1.0)\n    print(number)"
    with bundle_job(tmp_path, write_bundle(tmp_path / "bundle", SETUP, train, "print('next')")) as job:
        assert job.wait() == JobExit.GUARD_NON_FINITE_LOSS, job.output
    status = job.status()
    assert (status.state, status.guard, status.step) == (RunState.TRIPPED, "non_finite_loss", 7)
    assert status.cell_index == 2
    (trip,) = read_trips(job.run_dir)
    assert (trip.action, trip.step) == ("stop", 7)
    assert "7\n" not in job.text_of(2)
    assert job.executed().cells[3].execution_count is None


def test_a_cell_that_swallows_every_exception_is_stopped_all_the_same(tmp_path):
    train = (
        "number = 0\n"
        "while True:\n"
        "    try:\n"
        "        number += 1\n"
        "        step(float('inf') if number > 3 else 1.0)\n"
        "        time.sleep(0.05)\n"
        "    except BaseException:\n"
        "        pass"
    )
    bundle = write_bundle(tmp_path / "bundle", SETUP, train)
    with bundle_job(tmp_path, bundle, ["--grace", "1s"]) as job:
        assert job.wait() == JobExit.GUARD_NON_FINITE_LOSS, job.output
    assert job.status().state is RunState.TRIPPED


def test_with_warn_the_job_goes_on_and_the_trip_is_on_file(tmp_path):
    with notebook_job(tmp_path, SETUP, "step(float('nan'))\nprint('on')") as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert [trip.action for trip in read_trips(job.run_dir)] == ["warn"]
    assert "on\n" in job.text_of(2)


def test_a_stall_is_found_by_step_number_and_leaves_the_stacks(tmp_path):
    policy = GuardPolicy(GuardAction.STOP, {"floor_s": 2.0, "factor": 3.0, "min_steps": 3.0})
    train = (
        "import threading\n"
        "for _ in range(15):\n    step()\n    time.sleep(0.1)\n"
        "lock = threading.Lock(); lock.acquire()\n"
        "def waits_for_the_lock():\n    lock.acquire()\n"
        "waits_for_the_lock()"
    )
    bundle = write_bundle(tmp_path / "bundle", SETUP, train, guards={"stall": policy})
    with bundle_job(tmp_path, bundle, ["--grace", "2s"]) as job:
        assert job.wait() == JobExit.GUARD_STALL, job.output
    status = job.status()
    assert (status.state, status.guard, status.step) == (RunState.TRIPPED, "stall", 15)
    assert "waits_for_the_lock" in (job.run_dir / "stacks.txt").read_text()
    (trip,) = read_trips(job.run_dir)
    assert trip.value > trip.threshold == pytest.approx(2.0, abs=3.0)


def test_training_that_goes_on_is_no_stall(tmp_path):
    policy = GuardPolicy(GuardAction.STOP, {"floor_s": 1.0, "factor": 3.0, "min_steps": 3.0})
    train = "for _ in range(30):\n    step()\n    time.sleep(0.1)"
    rest = "time.sleep(2)"
    bundle = write_bundle(tmp_path / "bundle", SETUP, train, rest, guards={"stall": policy})
    with bundle_job(tmp_path, bundle) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert read_trips(job.run_dir) == ()
    assert job.status().step == 30
