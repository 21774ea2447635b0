"""A run's status is true even when nobody was left to write it."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.errors import DocumentTooNew, RunInvalid
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.status import (
    ProcessMark,
    finish_killed,
    mark_supervisor,
    read_status,
    write_status,
)

RUNNING = RunStatus(RunState.RUNNING, None, "running", step=12, cell_index=3, supervisor_pid=os.getpid())


@pytest.fixture
def running(tmp_path):
    mark_supervisor(tmp_path)
    write_status(tmp_path, RUNNING)
    return tmp_path


def _change_mark(run_dir, **changes):
    path = run_dir / "record" / "supervisor.json"
    mark = from_json(ProcessMark, json.loads(path.read_bytes()))
    path.write_text(json.dumps(to_json(dataclasses.replace(mark, **changes))))


def _dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_run_whose_supervisor_lives_is_running(running):
    assert read_status(running) == RUNNING


def test_a_run_whose_supervisor_is_gone_is_written_down_as_failed(running):
    _change_mark(running, pid=_dead_pid())
    status = read_status(running)
    assert (status.state, status.exit_code) == (RunState.FAILED, JobExit.SUPERVISOR_KILLED)
    assert (status.step, status.cell_index, status.supervisor_pid) == (12, 3, None)
    assert json.loads((running / "status.json").read_bytes())["state"] == "failed"
    assert read_status(running) == status


def test_another_process_with_the_same_id_is_not_the_supervisor(running):
    _change_mark(running, started=1000.0)
    assert read_status(running).exit_code == JobExit.SUPERVISOR_KILLED


@pytest.mark.parametrize("change", [{"namespace": "pid:[1]"}, {"boot": "another machine"}])
def test_a_status_from_another_container_or_machine_is_left_alone(running, change):
    _change_mark(running, pid=_dead_pid(), **change)
    assert read_status(running) == RUNNING


def test_an_engine_can_finish_a_run_that_was_killed(running):
    status = finish_killed(
        running,
        reason="the container was killed for memory",
        exit_code=JobExit.OUT_OF_MEMORY,
        state=RunState.FAILED,
    )
    assert (status.exit_code, status.step) == (JobExit.OUT_OF_MEMORY, 12)
    assert read_status(running) == status


def test_an_end_that_stands_is_not_overwritten(tmp_path):
    done = RunStatus(RunState.SUCCEEDED, 0, "all 3 code cells ran")
    write_status(tmp_path, done)
    assert finish_killed(tmp_path, reason="killed", exit_code=JobExit.SUPERVISOR_KILLED) == done
    assert read_status(tmp_path) == done


def test_a_run_killed_before_its_first_status_gets_one(tmp_path):
    status = finish_killed(tmp_path, reason="killed at once")
    assert (status.state, status.exit_code) == (RunState.FAILED, JobExit.SUPERVISOR_KILLED)
    assert read_status(tmp_path) == status


@pytest.mark.parametrize("content", [None, b"{", b"[]", b'{"schema": "clusterbridge/other/1"}'])
def test_a_folder_without_a_readable_status_is_no_run(tmp_path, content):
    if content is not None:
        (tmp_path / "status.json").write_bytes(content)
    with pytest.raises(RunInvalid):
        read_status(tmp_path)


def test_a_status_of_a_newer_version_is_refused(tmp_path):
    (tmp_path / "status.json").write_text('{"schema": "clusterbridge/status/2"}')
    with pytest.raises(DocumentTooNew):
        read_status(tmp_path)
