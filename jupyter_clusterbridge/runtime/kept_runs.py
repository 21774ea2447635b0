"""Which run of each cell counts: the last one, in the newest kernel that ran the cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_clusterbridge.model.events import CellEnd, CellStart, Event, FileRead
from jupyter_clusterbridge.model.notebook import Cell, Notebook
from jupyter_clusterbridge.runtime.journal import Journal


@dataclass
class KeptRun:
    """The last run of one cell and the events that belong to it."""

    cell: Cell
    journal: Journal
    kernel: int
    """Position of the journal in time, from 0."""
    start: CellStart
    runs: int
    """How often the cell ran in that kernel."""
    end: CellEnd | None = None
    """None when the kernel died in it."""
    events: list[Event] = field(default_factory=list)


def keep_runs(notebook: Notebook, journals: Sequence[Journal]) -> dict[int, KeptRun]:
    """The kept run by cell index, for the cells that ran."""
    kept: dict[int, KeptRun] = {}
    for kernel, journal in enumerate(sorted(journals, key=lambda one: one.start.at)):
        for run in _last_runs(notebook, journal, kernel):
            kept[run.cell.index] = run
    return {index: kept[index] for index in sorted(kept)}


def _last_runs(notebook: Notebook, journal: Journal, kernel: int) -> Iterator[KeptRun]:
    match = _Matcher(notebook)
    last: dict[int, KeptRun] = {}
    for event in journal.events:
        if isinstance(event, CellStart):
            cell = match.find(event)
            if cell is not None:
                before = last.get(cell.index)
                last[cell.index] = KeptRun(cell, journal, kernel, event, 1 + (before.runs if before else 0))
    by_number = {run.start.run: run for run in last.values()}
    for event in journal.events:
        number = getattr(event, "run", None)
        run = by_number.get(number) if isinstance(number, int) else None
        if run is not None and isinstance(event, CellEnd):
            run.end = event
        elif run is not None and not isinstance(event, CellStart):
            run.events.append(event)
        elif isinstance(event, FileRead) and event.path.endswith(".py"):
            _give_module(event, last)
    yield from last.values()


def _give_module(event: FileRead, last: dict[int, KeptRun]) -> None:
    """A module is imported once in a kernel, perhaps by a run that does not count; the next that does uses it."""
    later = [run for run in last.values() if run.start.run > event.run]
    if later:
        min(later, key=lambda run: run.start.run).events.append(event)


class _Matcher:
    """Finds the cell of a run: by id, by source when the front end sends none or the file holds none."""

    def __init__(self, notebook: Notebook) -> None:
        self._by_id = {cell.id: cell for cell in notebook.code_cells}
        self._by_source: dict[str, Cell] = {}
        for cell in notebook.code_cells:
            self._by_source.setdefault(cell.source.strip(), cell)

    def find(self, start: CellStart) -> Cell | None:
        found = self._by_id.get(start.cell_id) if start.cell_id is not None else None
        return found or self._by_source.get(start.source.strip())
