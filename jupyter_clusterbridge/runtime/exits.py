"""The ends of a job: each has one exit code, one state and a plain reason."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus

_STATES = {
    JobExit.SUCCEEDED: RunState.SUCCEEDED,
    JobExit.TIMED_OUT: RunState.TIMED_OUT,
    JobExit.CANCELLED: RunState.CANCELLED,
    JobExit.GUARD_NON_FINITE_LOSS: RunState.TRIPPED,
    JobExit.GUARD_STALL: RunState.TRIPPED,
}
_REASON_LENGTH = 400


@dataclass(frozen=True)
class End:
    """How and why a job ended."""

    code: int
    """A value of :class:`JobExit`, or the exit code of a ``ClusterBridgeError`` met before the first cell."""
    reason: str
    guard: str | None = None
    step: int | None = None
    cell_index: int | None = None

    @property
    def state(self) -> RunState:
        """The state that belongs to the exit code.

        >>> End(JobExit.CELL_ERROR, "cell 2 raised ValueError").state.value
        'failed'
        """
        try:
            return _STATES.get(JobExit(self.code), RunState.FAILED)
        except ValueError:
            return RunState.FAILED

    def status(self) -> RunStatus:
        """The end as the content of ``status.json``."""
        return RunStatus(
            state=self.state,
            exit_code=int(self.code),
            reason=self.reason,
            guard=self.guard,
            step=self.step,
            cell_index=self.cell_index,
        )


class JobEnded(Exception):
    """Carries an end from where it is known to where the job is closed; no user sees it."""

    def __init__(self, end: End) -> None:
        super().__init__(end.reason)
        self.end = end


def cell_error(cell_index: int, name: str, value: str) -> End:
    """A cell raised an exception."""
    if name == "StdinNotImplementedError":
        reason = f"cell {cell_index} asked for typed input, which no job can give ({name}); make it a parameter"
        return End(JobExit.CELL_ERROR, reason, cell_index=cell_index)
    first = value.strip().split("\n", 1)[0]
    said = f": {first}" if first else ""
    return End(
        JobExit.CELL_ERROR, f"cell {cell_index} raised {name}{said}"[:_REASON_LENGTH], cell_index=cell_index
    )


def early_exit(cell_index: int, how: str, left: int) -> End:
    """A cell ended the notebook before its end.

    Args:
        cell_index: the cell that did.
        how: the call, for example ``sys.exit(0)``.
        left: number of code cells that did not run.
    """
    skipped = "" if left == 0 else f"; {left} code cell{'s' if left > 1 else ''} after it did not run"
    return End(
        JobExit.EARLY_EXIT, f"cell {cell_index} ended the notebook with {how}{skipped}", cell_index=cell_index
    )


def shell_failed(cell_index: int, command: str, exit_code: int) -> End:
    """A shell escape or a script cell failed."""
    reason = f"cell {cell_index}: the shell command failed with exit code {exit_code}: {command.strip()}"
    return End(JobExit.SHELL_FAILED, reason[:_REASON_LENGTH], cell_index=cell_index)


def kernel_died(cell_index: int | None, returncode: int | None, *, memory: bool, left: int) -> End:
    """The kernel's process is gone.

    Args:
        cell_index: the cell that was running.
        returncode: as ``subprocess`` gives it; negative for a signal, None when unknown.
        memory: whether the system killed a process of this job for memory.
        left: number of code cells that did not run.
    """
    where = "between cells" if cell_index is None else f"in cell {cell_index}"
    if memory and returncode in (-signal.SIGKILL, None):
        reason = f"the notebook's process was killed {where} because the job ran out of memory"
        return End(JobExit.OUT_OF_MEMORY, reason, cell_index=cell_index)
    if returncode is not None and returncode >= 0 and cell_index is not None:
        return early_exit(cell_index, f"an exit of its process (exit code {returncode})", left)
    return End(
        JobExit.KERNEL_DIED, f"the notebook's process died {where}{_signal(returncode)}", cell_index=cell_index
    )


def _signal(returncode: int | None) -> str:
    if returncode is None:
        return ""
    if returncode >= 0:
        return f" (exit code {returncode})"
    try:
        return f" ({signal.Signals(-returncode).name})"
    except ValueError:
        return f" (signal {-returncode})"
