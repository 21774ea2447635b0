"""How a job ends: states, exit codes, the status file and guard trips."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


class RunState(str, enum.Enum):
    """State of a run; ``running`` stands only while the supervisor lives."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TRIPPED = "tripped"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


class JobExit(enum.IntEnum):
    """Exit code of a job's supervisor, one for each end."""

    SUCCEEDED = 0
    """Every cell ran, no shell escape failed, and the declared artifacts are there."""
    INTERNAL = 39
    """The supervisor itself failed."""
    CELL_ERROR = 40
    """A cell raised an exception."""
    EARLY_EXIT = 41
    """The notebook was left before its last cell."""
    SHELL_FAILED = 42
    """A shell escape failed."""
    ARTIFACT_MISSING = 43
    """A declared artifact is missing or empty."""
    KERNEL_DIED = 44
    """The kernel's process ended or was killed."""
    OUT_OF_MEMORY = 45
    """The memory limit ended the kernel."""
    TIMED_OUT = 46
    """The time limit was reached."""
    DATA_MISMATCH = 47
    """A data file is missing or is not the one that was declared."""
    SUPERVISOR_KILLED = 48
    """The supervisor itself was killed; written by whoever started it, or on the next look."""
    GUARD_NON_FINITE_LOSS = 50
    """The loss was not a finite number."""
    GUARD_STALL = 51
    """Training made no step for too long."""
    CANCELLED = 143
    """A person or the engine stopped the job."""


@dataclass(frozen=True)
class RunStatus:
    """``status.json`` of a run directory."""

    SCHEMA: ClassVar[str] = "clusterbridge/status/1"

    state: RunState
    exit_code: int | None
    reason: str
    guard: str | None = None
    step: int | None = None
    cell_index: int | None = None
    supervisor_pid: int | None = None
    """Process id in the supervisor's own namespace while running."""


@dataclass(frozen=True)
class GuardTrip:
    """One line of ``guards.jsonl``."""

    guard: str
    action: str
    """``warn``, ``checkpoint`` or ``stop``."""
    step: int | None
    value: float | None
    threshold: float | None
    message: str
    at: str


class GuardAction(str, enum.Enum):
    """What a guard does when it trips."""

    OFF = "off"
    WARN = "warn"
    CHECKPOINT = "checkpoint"
    STOP = "stop"


@dataclass(frozen=True)
class GuardPolicy:
    """Setting of one guard in a bundle."""

    action: GuardAction
    thresholds: Mapping[str, float]
