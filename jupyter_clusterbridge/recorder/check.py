"""The journal against the saved file: the state of each cell, and what a person did that a job will not do."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from jupyter_clusterbridge.model.notebook import MAY_RAISE_TAG, Cell, Notebook
from jupyter_clusterbridge.model.state import CellReport, CellState, CheckReport, Reason
from jupyter_clusterbridge.recorder.interventions import find_interventions
from jupyter_clusterbridge.recorder.matching import match_runs
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.reasons import (
    ACCUMULATES,
    PASSED_ON,
    UNSAFE,
    explain,
    explain_missing,
    explain_stop,
    explain_unfinished,
    listed,
    sentences,
)
from jupyter_clusterbridge.recorder.remedies import FROM_TOP, Remedies
from jupyter_clusterbridge.recorder.replay import CellHistory, Replay
from jupyter_clusterbridge.recorder.runs import Kernel, Run, read_kernels
from jupyter_clusterbridge.runtime.journal import Journal


def check_notebook(notebook: Notebook, journals: Sequence[Journal], folder: Path | None = None) -> CheckReport:
    """Compare what was recorded with a clean top-to-bottom run of the saved file.

    Args:
        notebook: the saved file.
        journals: its journals; those of other roles than ``notebook`` are left out.
        folder: the notebook's folder, in which the files that cells read are held against what is there now; None
            looks at none.

    Returns:
        The state of each code cell and the interventions; ``findings`` is empty, they are lint's.
    """
    cells = notebook.code_cells
    kernels = read_kernels(journals)
    if not kernels:
        never = tuple(CellReport(cell.id, cell.index, CellState.NEVER_RUN, False) for cell in cells)
        return CheckReport(cells=never, recorded=False)
    pieces = match_runs(cells, kernels)
    judge = _Judge(cells, kernels, Replay(cells, pieces, kernels))
    interventions = find_interventions(cells, kernels, judge.replay.histories, judge.deleted, folder)
    return CheckReport(cells=judge.reports(), interventions=interventions)


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
    return [f"cell {index}: {sentence}" for sentence in sentences(reasons)]


class _Judge:
    """States of the cells of one notebook."""

    def __init__(self, cells: Sequence[Cell], kernels: Sequence[Kernel], replay: Replay) -> None:
        self.replay = replay
        self.deleted = {cell_id for kernel in kernels for cell_id in kernel.deleted}
        self._cells = cells
        self._newest = kernels[-1].runs[-1]  # while it is open it may be the cell that asks
        self._passed = {run.key for kernel in kernels for run in kernel.runs if run.complete}
        self._remedies = Remedies(cells, replay)

    def reports(self) -> tuple[CellReport, ...]:
        """One report for each code cell, in file order."""
        stop: Reason | None = None
        out: list[CellReport] = []
        for history in self.replay.histories:
            out.append(self._report(history, stop))
            if stop is None and self._is_end(history):
                assert history.last is not None
                stop = explain_stop(self._cells[history.position], history.last)
        return tuple(out)

    def _is_end(self, history: CellHistory) -> bool:
        """Whether a clean run comes no further: the cell did not get through with what a clean run gives it."""
        last, cell = history.last, self._cells[history.position]
        if last is None or last.status not in ("exit", "error") or history.edited:
            return False
        if history.mismatches or history.missing or last.key in self._passed:
            return False
        return last.status == "exit" or MAY_RAISE_TAG not in cell.tags

    def _report(self, history: CellHistory, stop: Reason | None) -> CellReport:
        cell = self._cells[history.position]
        if history.last is None:
            state = CellState.CURRENT if _is_empty(cell) else CellState.NEVER_RUN
            return CellReport(cell.id, cell.index, state, False)
        unsafe = sorted(history.mutates)
        reasons = self._reasons(cell, history, history.last, stop)
        if history.edited:
            state = CellState.EDITED
        elif reasons:
            state = CellState.DIVERGED
        else:
            state = CellState.NOT_TRACKED if history.untracked else CellState.CURRENT
        if unsafe:
            reasons.append(self._unsafe(history.position, unsafe))
        return CellReport(
            cell.id, cell.index, state, bool(unsafe), tuple(reasons), tuple(sorted(history.untracked))
        )

    def _reasons(self, cell: Cell, history: CellHistory, last: Run, stop: Reason | None) -> list[Reason]:
        if stop is not None and not history.edited:
            return [stop]
        found = [explain(self._cells, history, mismatch, self.deleted) for mismatch in history.mismatches]
        found += [explain_missing(self._cells, location, made) for location, made in history.missing.items()]
        if last.status == "interrupted" or (last.status == "open" and last is not self._newest):
            found.append(explain_unfinished(cell, last.status))
        if history.edited:
            found.insert(0, Reason("source", "source", cell.id, "the cell was edited after its last run"))
        if found:
            remedy = self._remedies.current(history.position)
            found = [dataclasses.replace(reason, remedy=remedy) for reason in found]
        return found

    def _unsafe(self, position: int, locations: Sequence[str]) -> Reason:
        kind, _, name = locations[0].partition(":")
        them = "it" if len(locations) == 1 else "them"
        remedy = self._remedies.again(position)
        way = f"create {them} in this cell, or {remedy}" if remedy != FROM_TOP else f"create {them} in this cell"
        return Reason(kind, name, None, f"{UNSAFE} changes {listed(locations)} once more", way)


def _is_empty(cell: Cell) -> bool:
    names = analyse_cell(cell.source)
    return not names.statements and not names.magics and not cell.source.strip(" \t\n#")
