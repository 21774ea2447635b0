"""What ``cb.metric`` and ``cb.artifact`` do: hand over to the session that records, if there is one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat

if TYPE_CHECKING:
    from jupyter_clusterbridge.runtime.session import Session

JOB_VARIABLE = "CLUSTERBRIDGE_JOB"
"""Set in a job's kernel to a JSON object that says where to record."""

_sink: Session | None = None


def set_sink(session: Session | None) -> None:
    """Name the session that records in this process; None for nobody."""
    global _sink
    _sink = session


def metric(name: str, value: SupportsFloat, step: SupportsFloat | None = None) -> None:
    """Record a value of a metric; does nothing where nothing records.

    Args:
        name: name of the metric.
        value: anything that ``float`` takes, such as a tensor or array of one element.
        step: the step or epoch it belongs to.

    Raises:
        TypeError, ValueError: ``value`` or ``step`` is no number.
    """
    if _sink is not None:
        _sink.log_metric(str(name), float(value), None if step is None else int(float(step)))


def artifact(path: str | Path) -> None:
    """Declare a file or folder that the job must leave; does nothing where nothing records."""
    if _sink is not None:
        _sink.declare_artifact(os.fspath(path))


def in_job() -> bool:
    """Whether this process is the kernel of a job."""
    return JOB_VARIABLE in os.environ


def register_job_magic(shell: Any) -> None:
    """Give a job's shell a ``%clusterbridge`` that says one line and does nothing."""
    shell.register_magic_function(_job_magic, magic_kind="line", magic_name="clusterbridge")


def _job_magic(line: str) -> None:
    print(f"clusterbridge: '%clusterbridge {line}'".rstrip("' ") + "' does nothing in a job")
