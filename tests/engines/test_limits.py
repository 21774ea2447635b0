"""Limits of local jobs: what is chosen, and that it holds on a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_clusterbridge.app.run import RunRequest, run_bundle
from jupyter_clusterbridge.engines import base, limits
from jupyter_clusterbridge.engines.base import RunOptions
from jupyter_clusterbridge.engines.limits import Limits, MemoryEnd, choose_limits
from jupyter_clusterbridge.engines.outcome import memory_reason, settle
from jupyter_clusterbridge.engines.registry import get_engine
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.bundle import read_bundle


def test_no_limits_need_no_shell():
    assert choose_limits(Resources(), "run-1") == Limits()
    assert Limits().shell() is None


def test_without_control_groups_memory_is_limited_by_address_space_and_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "_ROOT", tmp_path)
    chosen = choose_limits(Resources(memory_bytes=512 << 20, cpus=1), "run-1")
    assert chosen.groups == ()
    assert any("address space" in note for note in chosen.notes)
    assert any("affinity" in note for note in chosen.notes)
    shell = chosen.shell()
    assert shell is not None
    command = ["/bin/sh", "-c", shell, "x", sys.executable, "-c", "bytearray(1 << 30)"]
    assert "MemoryError" in subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_the_unified_hierarchy_gets_one_group_for_memory_and_processors(monkeypatch, tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu io memory pids\n")
    monkeypatch.setattr(limits, "_ROOT", tmp_path)
    chosen = choose_limits(Resources(memory_bytes=1 << 30, cpus=1.5), "run-1")
    (group,) = chosen.groups
    assert group.folder == str(tmp_path / "clusterbridge-run-1")
    assert group.values == (("memory.max", str(1 << 30)), ("memory.swap.max", "0"), ("cpu.max", "150000 100000"))


def test_processors_of_a_local_job_are_limited_from_its_first_moment(make_bundle):
    bundle = make_bundle("import os\nprint('processors', len(os.sched_getaffinity(0)))")
    before = os.sched_getaffinity(0)
    result = run_bundle(RunRequest(bundle, resources=Resources(cpus=1)))
    assert "processors 1" in (result.run_dir / "executed.ipynb").read_text()
    assert os.sched_getaffinity(0) == before


def test_no_group_is_left_after_a_run(make_bundle):
    run_bundle(RunRequest(make_bundle("x = 1"), resources=Resources(cpus=1, memory_bytes=1 << 30)))
    assert list(Path("/sys/fs/cgroup").glob("*/clusterbridge-tiny-*")) == []


def test_a_supervisor_that_hangs_is_ended_by_the_engine_at_the_time_limit(make_bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(base, "_OVERDUE_MARGIN_S", 0.5)
    bundle = make_bundle("import time\ntime.sleep(60)")
    engine = get_engine("local")
    (tmp_path / "run").mkdir()
    options = RunOptions(tmp_path / "run", "tiny-hang", Resources(time_limit_s=3), grace_s=0.5)
    plan = engine.render(read_bundle(bundle), bundle, options)
    engine.prepare(plan, lambda _text: None)
    handle = engine.submit(plan)
    time.sleep(2)
    os.kill(int(handle.native), signal.SIGSTOP)
    status = engine.wait(handle)
    engine.fetch(handle)
    assert (status.state, status.exit_code) == (RunState.TIMED_OUT, 46)
    assert "the engine did" in status.reason


def test_a_memory_kill_without_a_limit_of_ours_blames_the_machine():
    assert "the machine had none left" in memory_reason(MemoryEnd(True, None), None)


@pytest.mark.parametrize("code", [JobExit.SUCCEEDED, JobExit.CELL_ERROR, JobExit.TIMED_OUT])
def test_an_end_that_has_another_cause_is_not_blamed_on_memory(tmp_path, code):
    status = RunStatus(RunState.FAILED, int(code), "as it was")
    assert settle(tmp_path, status, MemoryEnd(True, 1), 1) == status
