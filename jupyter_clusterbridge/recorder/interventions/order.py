"""The order of consequence, written down once: what comes first in a status, and why."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_clusterbridge.model.state import Intervention, InterventionKind

CONSEQUENCE: dict[InterventionKind, str] = {
    # no run of the saved text gives the recorded result, whatever is done about it
    InterventionKind.DELETED_CELL_STATE: "the code that made it is gone: no run of the saved text makes it again",
    InterventionKind.INTERRUPT: "a job goes on where the person stopped, to another model",
    InterventionKind.TYPED_INPUT: "what was typed is written down nowhere; a job stops there or has another value",
    # another model, and nothing says so
    InterventionKind.WIDGET_CHANGE: "a job has the value of the text and not the one on the screen",
    InterventionKind.EDITED_RERUN: "a job has one value of those that were tried",
    InterventionKind.RERUN: "a job does once what was done several times",
    InterventionKind.OUT_OF_ORDER: "a job runs from top to bottom",
    # other code or other data under the same text
    InterventionKind.MODULE_CHANGED: "a job loads the source as it lies on disk",
    InterventionKind.FILE_CHANGED: "a job reads the file as it is now",
    InterventionKind.INSTALL: "a job has what the lock says, and not what was installed by hand",
    InterventionKind.ENV_CHANGE: "a job has the variables of the text and of its engine",
    InterventionKind.CWD_CHANGE: "a job begins in the notebook's folder",
    # a job fails, and says so
    InterventionKind.FAILED_RUN: "a job stops at the cell with an error that is seen",
    InterventionKind.KERNEL_RESTART: "a job is one kernel; what was run before is run again",
}
"""The kinds with the gravest first. What silently gives another model comes before what fails and says so."""
_RANK = {kind: number for number, kind in enumerate(CONSEQUENCE)}


def by_consequence(interventions: Iterable[Intervention]) -> tuple[Intervention, ...]:
    """The gravest first, those of one kind in the order in which they happened, the harmless at the end."""
    return tuple(sorted(interventions, key=_key))


def _key(one: Intervention) -> tuple[bool, int, str]:
    rank = _RANK[one.kind]
    if one.kind is InterventionKind.KERNEL_RESTART and one.cell_id is not None:
        rank = _RANK[InterventionKind.INTERRUPT]  # the kernel died in a cell: a job dies there as well
    return one.harmless, rank, one.at or ""
