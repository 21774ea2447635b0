"""One contract over every engine: the same ends, whatever executes the bundle."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from jupyter_clusterbridge.app.run import RunRequest, RunResult, run_bundle
from jupyter_clusterbridge.engines.base import Engine, RunHandle, RunOptions
from jupyter_clusterbridge.engines.registry import get_engine
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import RunState
from jupyter_clusterbridge.runtime.bundle import read_bundle
from jupyter_clusterbridge.runtime.status import read_status

FOREVER = "import time\nprint('wait' + 'ing', flush=True)\nwhile True: time.sleep(0.05)"


def run(bundle: Path, engine: str, log: list[str] | None = None, **limits: float) -> RunResult:
    request = RunRequest(bundle, engine, resources=Resources(**limits))  # type: ignore[arg-type]
    return run_bundle(request, log.append if log is not None else lambda _text: None)


def stored(result: RunResult) -> dict[str, object]:
    document = json.loads((result.run_dir / "status.json").read_text())
    assert isinstance(document, dict)
    return document


@pytest.fixture
def started(tmp_path: Path, engine_name: str) -> Callable[[Path], tuple[Engine, RunHandle]]:
    """Starts a bundle and comes back when its first cell runs."""

    def start(bundle: Path) -> tuple[Engine, RunHandle]:
        engine = get_engine(engine_name)
        run_dir = tmp_path / "started"
        run_dir.mkdir()
        options = RunOptions(run_dir, f"contract-{os.getpid()}-{time.monotonic_ns()}", grace_s=3)
        plan = engine.render(read_bundle(bundle), bundle, options)
        engine.prepare(plan, lambda _text: None)
        handle = engine.submit(plan)
        deadline = time.monotonic() + 60
        while "waiting" not in executed(run_dir):
            assert engine.status(handle).state is RunState.RUNNING
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return engine, handle

    return start


def executed(run_dir: Path) -> str:
    path = run_dir / "executed.ipynb"
    return path.read_text() if path.exists() else ""


def test_a_clean_run_succeeds_and_leaves_its_run_directory(bundle_for_engine, engine_name):
    log: list[str] = []
    result = run(bundle_for_engine("x = 6 * 7", "print('the answer is', x)"), engine_name, log)
    assert (result.status.state, result.status.exit_code) == (RunState.SUCCEEDED, 0)
    assert stored(result)["state"] == "succeeded"
    notebook = nbformat.read(result.run_dir / "executed.ipynb", 4)
    assert notebook.cells[1].outputs[0].text == "the answer is 42\n"
    assert (result.run_dir / "record" / "record.json").exists()
    assert any("cell 1" in line for line in log)
    assert (result.run_dir / "status.json").stat().st_uid == os.getuid()


def test_an_exception_fails_the_run_and_names_the_cell(bundle_for_engine, engine_name):
    result = run(bundle_for_engine("x = 1", "raise ValueError('no such thing')"), engine_name)
    assert (result.status.state, result.status.exit_code) == (RunState.FAILED, 40)
    assert result.status.cell_index == 1
    assert "no such thing" in result.status.reason


def test_an_early_exit_is_a_failure(bundle_for_engine, engine_name):
    result = run(bundle_for_engine("import sys\nsys.exit(0)", "print('never')"), engine_name)
    assert (result.status.state, result.status.exit_code) == (RunState.FAILED, 41)


def test_a_memory_kill_is_named_with_limit_and_peak(bundle_for_engine, engine_name):
    if engine_name == "local" and not os.access("/sys/fs/cgroup", os.W_OK):
        pytest.skip("no control group can be written here, so memory is limited by address space")
    hungry = "parts = []\nfor _ in range(2000): parts.append(bytearray(b'x' * (1 << 20)))"
    result = run(bundle_for_engine(hungry), engine_name, memory_bytes=400 << 20)
    assert (result.status.state, result.status.exit_code) == (RunState.FAILED, 45)
    assert "the limit of 400 MiB was reached" in result.status.reason
    assert "peak" in result.status.reason
    assert stored(result)["exit_code"] == 45


def test_the_time_limit_ends_the_run(bundle_for_engine, engine_name):
    result = run(bundle_for_engine(FOREVER), engine_name, time_limit_s=4.0)
    assert (result.status.state, result.status.exit_code) == (RunState.TIMED_OUT, 46)


def test_a_cancelled_run_says_so_and_keeps_its_partial_notebook(bundle_for_engine, started):
    engine, handle = started(bundle_for_engine(FOREVER))
    engine.cancel(handle)
    status = engine.wait(handle)
    engine.fetch(handle)
    assert (status.state, status.exit_code) == (RunState.CANCELLED, 143)
    assert "waiting" in executed(handle.run_dir)
    assert read_status(handle.run_dir) == status


def test_a_run_that_is_ended_at_once_counts_as_cancelled(bundle_for_engine, started):
    engine, handle = started(bundle_for_engine(FOREVER))
    engine.cancel(handle, force=True)
    status = engine.wait(handle)
    engine.fetch(handle)
    assert (status.state, status.exit_code) == (RunState.CANCELLED, 143)


def test_a_killed_supervisor_leaves_a_true_status_and_a_valid_notebook(bundle_for_engine, engine_name, started):
    engine, handle = started(bundle_for_engine(FOREVER))
    if engine_name == "local":
        os.kill(int(handle.native), signal.SIGKILL)
    else:
        import docker

        docker.from_env().containers.get(handle.native).kill("SIGKILL")
    status = engine.wait(handle)
    engine.fetch(handle)
    assert (status.state, status.exit_code) == (RunState.FAILED, 48)
    assert status.cell_index == 0
    nbformat.validate(nbformat.read(handle.run_dir / "executed.ipynb", 4))


def test_the_log_follows_the_job_from_its_first_line(bundle_for_engine, started):
    engine, handle = started(bundle_for_engine(FOREVER))
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(engine.logs(handle)))
    reader.start()
    engine.cancel(handle)
    engine.wait(handle)
    reader.join(10)
    engine.fetch(handle)
    assert not reader.is_alive()
    assert any("cell 0" in line for line in lines)
    assert any("cancelled" in line for line in lines)


def test_declared_data_comes_from_the_data_folder(bundle_for_engine, engine_name, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_bytes(b"1 2 3\n")
    bundle = bundle_for_engine("print(open('numbers.txt').read())", data={"numbers.txt": b"1 2 3\n"})
    assert run_bundle(RunRequest(bundle, engine_name, data_dir=tmp_path / "data")).status.exit_code == 0
    assert run_bundle(RunRequest(bundle, engine_name)).status.exit_code == 47


def test_a_plan_prints_what_will_be_asked_for_and_changes_nothing(bundle_for_engine, engine_name, tmp_path):
    bundle = bundle_for_engine("x = 1")
    options = RunOptions(tmp_path / "not-made", "plan-1", Resources(cpus=1.5, memory_bytes=1 << 30))
    plan = get_engine(engine_name).render(read_bundle(bundle), bundle, options)
    document = json.loads(str(plan))
    assert document["engine"] == engine_name
    assert str(1 << 30) in str(plan)
    assert not (tmp_path / "not-made").exists()
