"""Values that were set by hand, in a console or a passing cell, over those that a cell of the file sets."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.edits import literal_assignments, literal_changes
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run


def pokes(past: Past) -> Iterator[tuple[Run, Intervention]]:
    """Each with the run that made it."""
    saved: dict[str, tuple[int, str]] = {}
    for position, cell in enumerate(past.cells):
        saved.update({name: (position, value) for name, value in literal_assignments(cell.source).items()})
    for number in past.counted:
        kernel = past.kernels[number]
        for run in kernel.runs:
            # one with an id of a cell was a cell, which has been deleted since
            if run.cell is None and run.cell_id is None:
                found = _poke(past, kernel, run, saved)
                if found is not None:
                    yield run, found


def _poke(past: Past, kernel: Kernel, run: Run, saved: dict[str, tuple[int, str]]) -> Intervention | None:
    changed: list[tuple[int, str, str, str]] = []
    readers: set[int] = set()
    for name, value in literal_assignments(run.source).items():
        position, usual = saved.get(name, (0, value))
        used = [one.cell for one in past.readers(kernel, run, {f"name:{name}"}) if one.cell is not None]
        if usual != value and used:
            changed.append((position, name, usual, value))
            readers.update(used)
    if not changed:
        return None
    position = changed[0][0]
    cell = past.cells[position]
    sends_ids = any(one.cell_id is not None for one in kernel.runs)
    if not sends_ids and literal_changes(run.source, cell.source):  # most likely the same cell as it was
        told = " and ".join(f"`{name} = {value}` to `{usual}`" for _, name, usual, value in changed)
        message = f"cell {cell.index} changed {told} after a run"
    else:
        told = " and ".join(f"`{name} = {usual}` to `{value}`" for _, name, usual, value in changed)
        message = f"code that is in no cell changed {told}, which cell {cell.index} sets"
    message += f"; {past.named(sorted(readers))} read it"
    remedy = "make it a parameter" if len(changed) == 1 else "make them parameters"
    return Intervention(InterventionKind.EDITED_RERUN, cell.id, message, remedy, run.at)
