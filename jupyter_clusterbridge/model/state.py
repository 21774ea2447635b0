"""What the journal says about a saved notebook: cell states, reasons and interventions."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from jupyter_clusterbridge.model.findings import Finding

NOTHING = "nothing to do"
"""How the remedy of an intervention begins that asks for none."""


class CellState(str, enum.Enum):
    """State of one code cell against a clean top-to-bottom run of the saved file."""

    CURRENT = "current"
    DIVERGED = "diverged"
    EDITED = "edited"
    NOT_TRACKED = "not_tracked"
    """As a clean run would leave it as far as was followed; something in it was too costly to follow."""
    NEVER_RUN = "never_run"


class InterventionKind(str, enum.Enum):
    """What a person did that a job will not do."""

    OUT_OF_ORDER = "out_of_order"
    RERUN = "rerun"
    EDITED_RERUN = "edited_rerun"
    DELETED_CELL_STATE = "deleted_cell_state"
    KERNEL_RESTART = "kernel_restart"
    INTERRUPT = "interrupt"
    FAILED_RUN = "failed_run"
    TYPED_INPUT = "typed_input"
    WIDGET_CHANGE = "widget_change"
    INSTALL = "install"
    ENV_CHANGE = "env_change"
    CWD_CHANGE = "cwd_change"
    MODULE_CHANGED = "module_changed"
    FILE_CHANGED = "file_changed"


@dataclass(frozen=True)
class Intervention:
    """One thing that a person did, with the remedy in words."""

    kind: InterventionKind
    cell_id: str | None
    message: str
    remedy: str
    at: str | None = None
    """Time in ISO 8601, UTC."""

    @property
    def harmless(self) -> bool:
        """Whether it has left nothing that a job would do otherwise: its remedy begins with :data:`NOTHING`."""
        return self.remedy.startswith(NOTHING)


@dataclass(frozen=True)
class Reason:
    """Why a cell is not current or not safe to rerun."""

    kind: str
    """Kind of location: ``name``, ``file``, ``env``, ``rng``, ``source``, ``cell``."""
    name: str
    cell_id: str | None
    """The other cell involved, if any."""
    message: str
    """The cause in one sentence."""
    remedy: str = ""
    """What to do, one answer for all reasons of a cell; names the cells to run again, and in which order."""


@dataclass(frozen=True)
class CellReport:
    """State of one code cell."""

    cell_id: str
    cell_index: int
    state: CellState
    unsafe_to_rerun: bool
    reasons: tuple[Reason, ...] = ()
    untracked: tuple[str, ...] = ()
    """Locations that it used and that were too costly to follow: whether they changed is not known."""


@dataclass(frozen=True)
class CheckReport:
    """The journal against the saved file."""

    SCHEMA: ClassVar[str] = "clusterbridge/check/1"

    cells: tuple[CellReport, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    findings: tuple[Finding, ...] = ()
    recorded: bool = True
    """False when there is no journal, so that nothing is known about the session."""
