"""Cells that ran in another order than from top to bottom, more than once, or with other text."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.edits import describe_edit
from jupyter_clusterbridge.recorder.interventions.past import FROM_TOP, Past
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.reasons import describe, listed
from jupyter_clusterbridge.recorder.runs import Kernel, Run


def out_of_order(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Cells whose first run came after that of a cell below them."""
    seen: set[int] = set()
    lowest = -1
    for run in kernel.runs:
        if run.cell is None:
            continue
        if run.cell not in seen and lowest > run.cell:
            yield ran_after(past, run, lowest, harmless=not past.astray)
        seen.add(run.cell)
        lowest = max(lowest, run.cell)


def ran_after(past: Past, run: Run, below: int, *, harmless: bool = False) -> Intervention:
    """A run that came after the one of a cell that stands below it."""
    assert run.cell is not None
    cell = past.cells[run.cell]
    message = f"cell {cell.index} ran after cell {past.cells[below].index}, which stands below it"
    remedy = f"{FROM_TOP}, or move the cell to where it belongs"
    if harmless:
        remedy = f"{NOTHING}: every cell found what a clean run gives it"
    return Intervention(InterventionKind.OUT_OF_ORDER, cell.id, message, remedy, run.at)


def reruns(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Cells that ran more than once with the same text."""
    for position, runs in past.by_cell(kernel).items():
        yield from _reruns(past.cells[position], runs)


def _reruns(cell: Cell, runs: Sequence[Run]) -> Iterator[Intervention]:
    counts = Counter(run.key for run in runs)
    key, count = counts.most_common(1)[0]
    if count < 2:
        return
    same = [run for run in runs if run.key == key]
    # the first run cannot repeat anything
    mutated = {location for run in same[1:] for location in run.mutates}
    changed = sorted(location for location in mutated if not location.startswith("file:"))
    shifted = sorted({f"rng:{name}" for run in same[1:] for name in run.shifted_streams()})
    seeds = {f"rng:{name}" for name in analyse_cell(same[0].source).total.seeds}
    moved = [location for location in shifted if location not in seeds]
    if not (changed or moved) and sum(run.complete for run in same) < 2:
        return  # the runs that did not come through are told on their own
    message = f"cell {cell.index} ran {count} times"
    remedy = f"{NOTHING}: it changes no variable that it starts from"
    if changed:
        message += f" and changed {listed(changed)} each time"
        remedy = f"create what it changes in the cell itself, or {FROM_TOP}"
    elif moved:
        message += f" and moved {describe(moved[0])} on each time"
        remedy = f"seed the stream in the cell, or {FROM_TOP}"
    elif appended := sorted(mutated):
        message += f" and added to {listed(appended)} each time"
        remedy = "let the cell begin the file anew: a job has what one run writes"
    yield Intervention(InterventionKind.RERUN, cell.id, message, remedy, same[1].at)


def edits(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Cells whose text changed between two runs."""
    for position, runs in past.by_cell(kernel).items():
        cell = past.cells[position]
        settled = not past.astray and runs[-1].key == analyse_cell(cell.source).key
        for number, (before, after) in enumerate(itertools.pairwise(runs), start=1):
            if before.key == after.key or before.piece != after.piece:
                continue
            what, remedy = describe_edit(before.source, after.source)
            if settled and "parameter" not in remedy.partition(",")[0]:
                # a value that was tried is told in any case; other text is how a notebook comes to be
                remedy = f"{NOTHING}: the saved text is what ran last, and nothing of the older one is left"
            message = f"cell {cell.index} changed {what} between runs {number} and {number + 1}"
            yield Intervention(InterventionKind.EDITED_RERUN, cell.id, message, remedy, after.at)
