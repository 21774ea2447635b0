"""What the end of one cell means for the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.model.notebook import MAY_RAISE_TAG
from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.exits import End, cell_error, early_exit, shell_failed
from jupyter_clusterbridge.runtime.guarding import stopping_trip
from jupyter_clusterbridge.runtime.memory import MemoryKills
from jupyter_clusterbridge.runtime.shellwatch import ShellFailures, script_failure, unseen_failure
from jupyter_clusterbridge.runtime.watch import trip_end

_CLEAN_EXITS = ("", "0", "None", "False")


class Judge:
    """Looks at the kernel's reply and at what the kernel left in the run directory.

    Args:
        run_dir: the run directory.
        record_dir: its record folder.
        memory: watches the control group.
    """

    def __init__(self, run_dir: Path, record_dir: Path, memory: MemoryKills) -> None:
        self._run_dir = run_dir
        self._shell = ShellFailures(record_dir)
        self._memory = memory

    def cell(
        self,
        cell: Mapping[str, Any],
        index: int,
        reply: Mapping[str, Any],
        left: int,
        shown_error: Mapping[str, Any] | None = None,
    ) -> End | None:
        """The end of the job after this cell; None when the next cell may run.

        Args:
            cell: the notebook cell that ran.
            index: its index.
            reply: content of the kernel's reply.
            left: number of code cells that have not run yet.
            shown_error: content of an error that the cell published, whatever its reply says: ``%run`` and
                ``%%capture`` show the traceback of what they run and go on as if nothing had happened.
        """
        source = str(cell["source"])
        failures = self._shell.since_last()
        trip = stopping_trip(self._run_dir)
        if trip is not None:
            return trip_end(trip, index)
        if MAY_RAISE_TAG in cell["metadata"].get("tags", []):
            return None
        if reply.get("status") != "ok":
            return self._failed(source, index, reply, left)
        failure = unseen_failure(source, failures)
        if failure is not None:
            return shell_failed(index, failure.command, failure.exit_code)
        if left and _asks_exit(reply):
            return early_exit(index, "exit()", left)
        if shown_error is not None:
            return self._error(index, *_said(shown_error))
        return None

    def _failed(self, source: str, index: int, reply: Mapping[str, Any], left: int) -> End | None:
        name, value = _said(reply)
        if name == "SystemExit":
            if left == 0 and value in _CLEAN_EXITS:
                return None
            return early_exit(index, f"sys.exit({value})", left)
        script = script_failure(source, name, value)
        if script is not None:
            return shell_failed(index, script.command, script.exit_code)
        return self._error(index, name, value)

    def _error(self, index: int, name: str, value: str) -> End:
        end = cell_error(index, name, value)
        if self._memory.moved():
            reason = f"the system killed a process of the job for memory; then {end.reason}"
            return End(JobExit.OUT_OF_MEMORY, reason, cell_index=index)
        return end


def _said(error: Mapping[str, Any]) -> tuple[str, str]:
    return str(error.get("ename", "error")), str(error.get("evalue", ""))


def _asks_exit(reply: Mapping[str, Any]) -> bool:
    return any(payload.get("source") == "ask_exit" for payload in reply.get("payload", []))
