"""State that cells still use and that no clean run of the saved file would give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import FROM_TOP, Past
from jupyter_clusterbridge.recorder.interventions.sequence import ran_after
from jupyter_clusterbridge.recorder.reasons import listed
from jupyter_clusterbridge.recorder.runs import Run


def leftovers(past: Past, found: Sequence[Intervention], told: set[Run]) -> Iterator[Intervention]:
    """What the mismatches of cells show and no other finder has told.

    Args:
        past: the session.
        found: interventions so far.
        told: runs whose consequences were told already.
    """
    ordered = {one.cell_id for one in found if one.kind is InterventionKind.OUT_OF_ORDER}
    lost: dict[str | None, list[str]] = {}
    at: dict[str | None, str] = {}
    for history in past.histories:
        cell_id = past.cells[history.position].id
        for mismatch in history.mismatches:
            actual = mismatch.actual
            if actual.cell is None and actual.run is not None and actual.run not in told:
                lost.setdefault(actual.run.cell_id, []).append(mismatch.location)
                at[actual.run.cell_id] = actual.run.at
            elif actual.cell is not None and actual.cell > history.position and cell_id not in ordered:
                ordered.add(cell_id)
                assert history.last is not None
                yield ran_after(past, history.last, actual.cell)
    for lost_id, locations in lost.items():
        gone = "a deleted cell" if lost_id in past.deleted else "a cell that is not in the saved file"
        message = f"{listed(sorted(set(locations)))} was made by {gone} and is still in use"
        remedy = f"put that code back into a cell, or take out what uses it; then {FROM_TOP}"
        yield Intervention(InterventionKind.DELETED_CELL_STATE, lost_id, message, remedy, at.get(lost_id))
