"""What a person did that a job will not do, once for each cause, with the remedy in words."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.edits import describe_edit
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.reasons import describe, listed
from jupyter_clusterbridge.recorder.replay import CellHistory
from jupyter_clusterbridge.recorder.runs import Kernel, Run

_TOP = "restart the kernel and run all cells from the top"


def find_interventions(
    cells: Sequence[Cell], kernels: Sequence[Kernel], histories: Sequence[CellHistory], deleted: set[str]
) -> tuple[Intervention, ...]:
    """Interventions in the kernels that some cell's last run comes from, in the order in which they happened.

    What was done in older kernels has left nothing in the recorded state.
    """
    counted = {history.last.kernel for history in histories if history.last is not None} | {len(kernels) - 1}
    found: list[Intervention] = []
    astray = {history.position for history in histories if history.mismatches or history.missing}
    for number in sorted(counted):
        if number:
            found.append(_restart(cells, kernels, number, histories))
        running = kernels[number].runs[-1] if number == len(kernels) - 1 else None
        found.extend(_in_kernel(cells, kernels[number], running, astray))
    found.extend(_from_mismatches(cells, histories, deleted, found))
    return tuple(sorted(found, key=lambda one: one.at or ""))


def _restart(
    cells: Sequence[Cell], kernels: Sequence[Kernel], number: int, histories: Sequence[CellHistory]
) -> Intervention:
    older = [h.position for h in histories if h.last is not None and h.last.kernel < number]
    before = len({run.cell for run in kernels[number - 1].runs})
    message = f"the kernel was restarted, or a second one was started, after {before} cells had run"
    if older:
        some = ", ".join(str(cells[position].index) for position in older[:8])
        remedy = f"cells last run before that: {some}; run all cells from the top once more"
    else:
        remedy = "nothing to do: every cell that was run has run again since"
    return Intervention(InterventionKind.KERNEL_RESTART, None, message, remedy, kernels[number].at)


def _in_kernel(
    cells: Sequence[Cell], kernel: Kernel, newest: Run | None, astray: set[int]
) -> Iterator[Intervention]:
    """``astray``: positions of cells whose last run had other inputs than a clean run gives."""
    by_cell: dict[int, list[Run]] = {}
    lowest: Run | None = None
    for run in kernel.runs:
        yield from _seen(cells, run)
        if run.cell is None:
            continue
        if run.cell not in by_cell and lowest is not None and lowest.cell is not None and lowest.cell > run.cell:
            yield _out_of_order(cells, run, run.cell, lowest.cell, not astray)
        by_cell.setdefault(run.cell, []).append(run)
        if lowest is None or lowest.cell is None or run.cell > lowest.cell:
            lowest = run
    for position, runs in by_cell.items():
        yield from _reruns(cells[position], runs)
        yield from _edits(cells[position], runs)
        ended = [run for run in runs if run is not newest or run.status != "open"]
        yield from _failures(cells[position], ended, position in astray)


def _seen(cells: Sequence[Cell], run: Run) -> Iterator[Intervention]:
    name = f"cell {cells[run.cell].index}" if run.cell is not None else "a cell that is not in the file"
    cell_id = cells[run.cell].id if run.cell is not None else run.cell_id
    for (kind, message, remedy), count in Counter((i.kind, i.message, i.remedy) for i in run.seen).items():
        text = message.replace("the cell", name, 1) + (f", {count} times" if count > 1 else "")
        yield Intervention(kind, cell_id, text, remedy, run.seen[0].at or run.at)


def _out_of_order(
    cells: Sequence[Cell], run: Run, position: int, below: int, harmless: bool = False
) -> Intervention:
    message = f"cell {cells[position].index} ran after cell {cells[below].index}, which stands below it"
    remedy = f"{_TOP}, or move the cell to where it belongs"
    if harmless:
        remedy = "nothing to do: every cell found what a clean run gives it"
    return Intervention(InterventionKind.OUT_OF_ORDER, cells[position].id, message, remedy, run.at)


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
    remedy = "nothing to do: it changes no variable that it starts from"
    if changed:
        message += f" and changed {listed(changed)} each time"
        remedy = f"create what it changes in the cell itself, or {_TOP}"
    elif moved:
        message += f" and moved {describe(moved[0])} on each time"
        remedy = f"seed the stream in the cell, or {_TOP}"
    elif appended := sorted(mutated):
        message += f" and added to {listed(appended)} each time"
        remedy = "let the cell begin the file anew: a job has what one run writes"
    yield Intervention(InterventionKind.RERUN, cell.id, message, remedy, same[1].at)


def _edits(cell: Cell, runs: Sequence[Run]) -> Iterator[Intervention]:
    for number, (before, after) in enumerate(itertools.pairwise(runs), start=1):
        if before.key != after.key and before.piece == after.piece:
            what, remedy = describe_edit(before.source, after.source)
            message = f"cell {cell.index} changed {what} between runs {number} and {number + 1}"
            yield Intervention(InterventionKind.EDITED_RERUN, cell.id, message, remedy, after.at)


def _failures(cell: Cell, runs: Sequence[Run], astray: bool) -> Iterator[Intervention]:
    name = f"cell {cell.index}"
    later = "it ran through later, make sure that it does so in a clean run"
    for (status, error), count in Counter((run.status, run.error) for run in runs if not run.complete).items():
        first = next(run for run in runs if (run.status, run.error) == (status, error))
        times = f", {count} times" if count > 1 else ""
        if status == "interrupted":
            message = f"{name} was interrupted after {first.duration_s:.1f} s{times}"
            remedy = "nobody interrupts a job: give it a number of steps or a time limit at which it ends"
            yield Intervention(InterventionKind.INTERRUPT, cell.id, message, remedy, first.at)
            continue
        ended = {
            "exit": "ended with SystemExit",
            "open": "has no recorded end: the kernel died or was killed, or the recording stopped",
        }
        how = ended.get(status, f"failed with {error or 'an error'}")
        message = f"{name} {how}{times}"
        remedy = "a job stops at this cell: repair it, or take it out"
        if runs[-1].complete:
            remedy = later
        elif astray and status == "error":
            remedy = f"a clean run gives it other inputs: {_TOP}"
        elif status == "open":
            remedy = "run it again: a job has to get through it"
        yield Intervention(InterventionKind.FAILED_RUN, cell.id, message, remedy, first.at)


def _from_mismatches(
    cells: Sequence[Cell], histories: Sequence[CellHistory], deleted: set[str], found: Sequence[Intervention]
) -> Iterator[Intervention]:
    ordered = {one.cell_id for one in found if one.kind is InterventionKind.OUT_OF_ORDER}
    lost: dict[str | None, list[str]] = {}
    for history in histories:
        cell = cells[history.position]
        for mismatch in history.mismatches:
            actual = mismatch.actual
            if actual.cell is None and actual.run is not None:
                lost.setdefault(actual.run.cell_id, []).append(mismatch.location)
            elif actual.cell is not None and actual.cell > history.position and cell.id not in ordered:
                ordered.add(cell.id)
                assert history.last is not None
                yield _out_of_order(cells, history.last, history.position, actual.cell)
    at = {run.cell_id: run.at for h in histories for m in h.mismatches if (run := m.actual.run) is not None}
    for cell_id, locations in lost.items():
        gone = "a deleted cell" if cell_id in deleted else "a cell that is not in the saved file"
        message = f"{listed(sorted(set(locations)))} was made by {gone} and is still in use"
        remedy = f"put that code back into a cell, or take out what uses it; then {_TOP}"
        yield Intervention(InterventionKind.DELETED_CELL_STATE, cell_id, message, remedy, at.get(cell_id))
