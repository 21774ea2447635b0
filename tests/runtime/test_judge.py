"""What a cell's reply means for the job."""

from __future__ import annotations

import json

import pytest

from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.exits import kernel_died
from jupyter_clusterbridge.runtime.judge import Judge
from jupyter_clusterbridge.runtime.memory import MemoryKills


class Replies:
    """A judge over a run directory in which a test plays the kernel."""

    def __init__(self, folder, memory=None):
        self.folder = folder
        self.judge = Judge(folder, folder, memory or MemoryKills(folder / "none", folder / "none"))

    def shell_failed(self, command, exit_code, visible=True):
        with (self.folder / "shell.jsonl").open("a") as handle:
            handle.write(json.dumps({"command": command, "exit_code": exit_code, "visible": visible}) + "\n")

    def ok(self, source, left=1, payload=(), tags=()):
        return self._cell(source, {"status": "ok", "payload": list(payload)}, left, tags)

    def error(self, source, name, value="", left=1, tags=()):
        return self._cell(source, {"status": "error", "ename": name, "evalue": value}, left, tags)

    def _cell(self, source, reply, left, tags):
        return self.judge.cell({"source": source, "metadata": {"tags": list(tags)}}, 2, reply, left)


@pytest.fixture
def replies(tmp_path):
    return Replies(tmp_path)


def test_a_cell_that_ran_lets_the_next_one_run(replies):
    assert replies.ok("x = 1") is None


@pytest.mark.parametrize(("value", "left"), [("0", 1), ("None", 2), ("", 1), ("3", 0), ("stop", 0), ("1", 4)])
def test_an_exit_before_the_end_or_with_a_failure_is_an_early_exit(replies, value, left):
    end = replies.error("import sys; sys.exit()", "SystemExit", value, left)
    assert end.code == JobExit.EARLY_EXIT
    assert end.cell_index == 2


@pytest.mark.parametrize("value", ["0", "None", ""])
def test_a_clean_exit_in_the_last_cell_is_no_failure(replies, value):
    assert replies.error("import sys; sys.exit(0)", "SystemExit", value, left=0) is None


def test_quit_is_an_early_exit_unless_the_cell_is_the_last(replies):
    assert replies.ok("quit()", left=1, payload=[{"source": "ask_exit"}]).code == JobExit.EARLY_EXIT
    assert replies.ok("quit()", left=0, payload=[{"source": "ask_exit"}]) is None


def test_an_error_that_a_magic_showed_and_swallowed_is_a_failure_unless_the_tag_allows_it(replies):
    shown = {"ename": "ValueError", "evalue": "no data"}
    cell = {"source": "%run train.py", "metadata": {"tags": []}}
    end = replies.judge.cell(cell, 2, {"status": "ok"}, 1, shown)
    assert (end.code, end.cell_index) == (JobExit.CELL_ERROR, 2)
    assert "ValueError: no data" in end.reason
    allowed = {"source": "%run train.py", "metadata": {"tags": ["raises-exception"]}}
    assert replies.judge.cell(allowed, 2, {"status": "ok"}, 1, shown) is None


def test_a_shell_failure_counts_for_the_cell_in_which_it_happened(replies):
    replies.shell_failed("make data", 2)
    end = replies.ok("!make data")
    assert end.code == JobExit.SHELL_FAILED
    assert "exit code 2: make data" in end.reason
    assert replies.ok("x = 1") is None


def test_looking_at_the_exit_code_does_not_excuse_an_assigned_escape(replies):
    replies.shell_failed("false", 1, visible=False)
    assert replies.ok("x = !false\nprint(_exit_code)").code == JobExit.SHELL_FAILED


def test_a_called_process_error_of_python_code_is_a_cell_error(replies):
    said = "Command '['false']' returned non-zero exit status 1."
    assert replies.error("import subprocess", "CalledProcessError", said).code == JobExit.CELL_ERROR
    end = replies.error("%%bash --login\nfalse", "CalledProcessError", said)
    assert end.code == JobExit.SHELL_FAILED


def test_a_cell_tagged_raises_exception_may_fail(replies):
    assert replies.error("1 / 0", "ZeroDivisionError", tags=["raises-exception"]) is None
    assert replies.error("exit_now()", "SystemExit", "1", tags=["raises-exception"]) is None


def test_a_stop_in_the_file_of_trips_counts_even_when_the_cell_swallowed_it(replies):
    trip = {"guard": "non_finite_loss", "action": "stop", "step": 7, "value": "nan", "threshold": 1.0}
    line = json.dumps({**trip, "message": "the loss at step 7 is nan", "at": "2026-01-01T00:00:00Z"})
    (replies.folder / "guards.jsonl").write_text(line + "\n")
    end = replies.ok("train()")
    assert (end.code, end.guard, end.step) == (JobExit.GUARD_NON_FINITE_LOSS, "non_finite_loss", 7)


def test_an_error_after_a_kill_for_memory_says_so(tmp_path):
    memory = counter(tmp_path, 1)
    replies = Replies(tmp_path, memory)
    assert replies.error("train()", "RuntimeError", "worker exited").code == JobExit.CELL_ERROR
    counter(tmp_path, 2)
    end = replies.error("train()", "RuntimeError", "DataLoader worker (pid 7) is killed by signal: Killed.")
    assert end.code == JobExit.OUT_OF_MEMORY
    assert "DataLoader worker" in end.reason


def counter(folder, kills, version=2):
    """A control group's counter, and what watches it."""
    if version == 2:
        (folder / "cgroup").write_text("0::/job\n")
        (folder / "job").mkdir(exist_ok=True)
        (folder / "job" / "memory.events").write_text(f"low 0\noom 3\noom_kill {kills}\n")
    else:
        (folder / "cgroup").write_text("9:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n")
        (folder / "memory").mkdir(exist_ok=True)
        (folder / "memory" / "memory.oom_control").write_text(
            f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n"
        )
    return MemoryKills(folder, folder / "cgroup")


@pytest.mark.parametrize("version", [1, 2])
def test_a_kernel_killed_while_the_counter_moved_ran_out_of_memory(tmp_path, version):
    memory = counter(tmp_path, 4, version)
    assert not memory.moved()
    counter(tmp_path, 5, version)
    assert memory.moved()
    assert kernel_died(3, -9, memory=memory.moved(), left=1).code == JobExit.OUT_OF_MEMORY
    assert kernel_died(3, -9, memory=False, left=1).code == JobExit.KERNEL_DIED
    assert kernel_died(3, -11, memory=True, left=1).code == JobExit.KERNEL_DIED


def test_where_there_are_no_control_groups_nothing_is_ever_seen(tmp_path):
    assert not MemoryKills(tmp_path / "none", tmp_path / "none").moved()
