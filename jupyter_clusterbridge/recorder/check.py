"""The journal against the saved file: the state of each cell, and what a person did that a job will not do."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_clusterbridge.model.notebook import Cell, Notebook
from jupyter_clusterbridge.model.state import CellReport, CellState, CheckReport, Reason
from jupyter_clusterbridge.recorder.interventions import find_interventions
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.reasons import (
    ACCUMULATES,
    PASSED_ON,
    UNSAFE,
    explain,
    explain_missing,
    explain_unfinished,
    listed,
)
from jupyter_clusterbridge.recorder.replay import CellHistory, Replay
from jupyter_clusterbridge.recorder.runs import Run, match_runs, read_kernels
from jupyter_clusterbridge.runtime.journal import Journal


def check_notebook(notebook: Notebook, journals: Sequence[Journal]) -> CheckReport:
    """Compare what was recorded with a clean top-to-bottom run of the saved file.

    Args:
        notebook: the saved file.
        journals: its journals; those of other roles than ``notebook`` are left out.

    Returns:
        The state of each code cell and the interventions; ``findings`` is empty, they are lint's.
    """
    cells = notebook.code_cells
    kernels = read_kernels(journals)
    if not kernels:
        never = tuple(CellReport(cell.id, cell.index, CellState.NEVER_RUN, False) for cell in cells)
        return CheckReport(cells=never, recorded=False)
    match_runs(cells, kernels)
    replay = Replay(cells, kernels)
    deleted = {cell_id for kernel in kernels for cell_id in kernel.deleted}
    newest = kernels[-1].runs[-1]  # while it is open it may be the cell that asks
    reports = tuple(_report(cells, history, deleted, newest) for history in replay.histories)
    return CheckReport(cells=reports, interventions=find_interventions(cells, kernels, replay.histories, deleted))


def unreachable_reasons(report: CheckReport) -> tuple[str, ...]:
    """Why no clean run of the saved file reaches the recorded state, one sentence for each cause.

    Empty when a clean run reaches it. A cell that only passes on what another diverged cell made is no cause.
    """
    diverged = {cell.cell_id for cell in report.cells if cell.state is CellState.DIVERGED}
    every: list[str] = []
    causes: list[str] = []
    for cell in report.cells:
        if cell.cell_id not in diverged:
            continue
        reasons = [reason for reason in cell.reasons if not reason.message.startswith(UNSAFE)]
        every.extend(_sentences(cell.cell_index, reasons))
        causes.extend(_sentences(cell.cell_index, [one for one in reasons if not _is_passed_on(one, diverged)]))
    return tuple(causes or every)


def _is_passed_on(reason: Reason, diverged: set[str]) -> bool:
    return PASSED_ON in reason.message or (ACCUMULATES in reason.message and reason.cell_id in diverged)


def _sentences(index: int, reasons: Sequence[Reason]) -> list[str]:
    """One sentence for each other cell that is named."""
    groups: dict[str | None, list[Reason]] = {}
    for reason in reasons:
        groups.setdefault(reason.cell_id, []).append(reason)
    sentences: list[str] = []
    for first, *rest in groups.values():
        also = f" (the same holds for {listed([f'{one.kind}:{one.name}' for one in rest])})" if rest else ""
        sentences.append(f"cell {index}: {first.message}{also}")
    return sentences


def _report(cells: Sequence[Cell], history: CellHistory, deleted: set[str], newest: Run) -> CellReport:
    cell = cells[history.position]
    names = analyse_cell(cell.source)
    last = history.last
    if last is None:
        empty = not names.statements and not names.magics and not cell.source.strip(" \t\n#")
        state = CellState.CURRENT if empty else CellState.NEVER_RUN
        return CellReport(cell.id, cell.index, state, False)
    unsafe = sorted(history.mutates)
    reasons = [explain(cells, history, mismatch, deleted) for mismatch in history.mismatches]
    reasons += [explain_missing(cells, location, version) for location, version in history.missing.items()]
    if last.status == "interrupted" or (last.status == "open" and last is not newest):
        reasons.append(explain_unfinished(cell, last.status, bool(unsafe)))
    if last.key != names.key:
        state = CellState.EDITED
        message = "the cell was edited after its last run; run it again"
        reasons.insert(0, Reason("source", "source", cell.id, message))
    else:
        state = CellState.DIVERGED if reasons else CellState.CURRENT
    if unsafe:
        reasons.append(_unsafe_reason(unsafe))
    return CellReport(cell.id, cell.index, state, bool(unsafe), tuple(reasons))


def _unsafe_reason(locations: Sequence[str]) -> Reason:
    kind, _, name = locations[0].partition(":")
    them = "it" if len(locations) == 1 else "them"
    message = (
        f"{UNSAFE} changes {listed(locations)} once more; create {them} in this cell,"
        f" or run the cells that create {them} first"
    )
    return Reason(kind, name, None, message)
