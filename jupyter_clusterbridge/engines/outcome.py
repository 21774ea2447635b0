"""What an engine adds to the end of a run: a memory kill is named as such, whoever was killed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jupyter_clusterbridge.engines.limits import MemoryEnd
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.status import write_status

_KILLED = {JobExit.KERNEL_DIED, JobExit.SUPERVISOR_KILLED, JobExit.INTERNAL}


def settle(run_dir: Path, status: RunStatus, memory: MemoryEnd, limit_bytes: int | None) -> RunStatus:
    """Rewrite the end of a run when the kernel killed one of its processes for memory.

    Args:
        run_dir: the run directory.
        status: what its ``status.json`` says.
        memory: what the limit's keeper says.
        limit_bytes: the limit, or None when the run had none of its own.
    """
    # podman never tells; there the supervisor's own word counts
    if status.exit_code != JobExit.OUT_OF_MEMORY and not (memory.killed and status.exit_code in _KILLED):
        return status
    settled = dataclasses.replace(
        status,
        state=RunState.FAILED,
        exit_code=int(JobExit.OUT_OF_MEMORY),
        reason=memory_reason(memory, limit_bytes, status.cell_index),
    )
    if settled != status:
        write_status(run_dir, settled)
    return settled


def memory_reason(memory: MemoryEnd, limit_bytes: int | None, cell_index: int | None = None) -> str:
    """Why the job was killed, for people.

    >>> memory_reason(MemoryEnd(True, 268435456), 268435456, 3)
    'killed for memory in cell 3: the limit of 256 MiB was reached (peak 256 MiB)'
    """
    where = "" if cell_index is None else f" in cell {cell_index}"
    limit = f"the limit of {mebibytes(limit_bytes)} was reached" if limit_bytes else "the machine had none left"
    peak = f" (peak {mebibytes(memory.peak_bytes)})" if memory.peak_bytes else ""
    return f"killed for memory{where}: {limit}{peak}"


def mebibytes(size: int) -> str:
    """A size for people.

    >>> mebibytes(1536 * 1024 * 1024)
    '1536 MiB'
    """
    return f"{size / (1 << 20):.0f} MiB"
