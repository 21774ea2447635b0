"""What the kernels did, as the finders of interventions ask for it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.recorder.replay import CellHistory
from jupyter_clusterbridge.recorder.runs import Kernel, Run

FROM_TOP = "restart the kernel and run all cells from the top"


@dataclass(frozen=True, eq=False)
class Past:
    """The recorded session against the saved file."""

    cells: Sequence[Cell]
    kernels: Sequence[Kernel]
    histories: Sequence[CellHistory]
    deleted: set[str]
    folder: Path | None

    @functools.cached_property
    def counted(self) -> tuple[int, ...]:
        """Numbers of the kernels that some cell's last run comes from, and of the newest."""
        used = {history.last.kernel for history in self.histories if history.last is not None}
        return tuple(sorted(used | {len(self.kernels) - 1}))

    @functools.cached_property
    def astray(self) -> set[int]:
        """Positions of cells whose last run had other inputs than a clean run gives."""
        return {history.position for history in self.histories if history.mismatches or history.missing}

    @property
    def newest(self) -> Run:
        """The last run of all; while it is open it may be the cell that asks."""
        return self.kernels[-1].runs[-1]

    def name(self, run: Run) -> str:
        """The cell of a run in words."""
        return "a cell that is not in the file" if run.cell is None else f"cell {self.cells[run.cell].index}"

    def cell_id(self, run: Run) -> str | None:
        """The id of the cell of a run."""
        return run.cell_id if run.cell is None else self.cells[run.cell].id

    def is_last(self, run: Run) -> bool:
        """Whether a cell of the file stands as this run left it."""
        return run.cell is not None and self.histories[run.cell].last is run

    def named(self, positions: Sequence[int]) -> str:
        """Cells in words, at most eight by number."""
        numbers = [str(self.cells[position].index) for position in sorted(set(positions))]
        some = numbers[:8] + (["others"] if len(numbers) > 8 else [])
        if len(some) == 1:
            return f"cell {some[0]}"
        return f"cells {', '.join(some[:-1])} and {some[-1]}"

    def by_cell(self, kernel: Kernel) -> dict[int, list[Run]]:
        """The runs of one kernel by position of their cell."""
        found: dict[int, list[Run]] = {}
        for run in kernel.runs:
            if run.cell is not None:
                found.setdefault(run.cell, []).append(run)
        return found

    def readers(self, kernel: Kernel, after: Run | None, locations: set[str]) -> Iterator[Run]:
        """Last runs of cells that read one of these locations after a run, until all of them were set anew."""
        left = set(locations)
        start = kernel.runs.index(after) + 1 if after is not None else 0
        for run in kernel.runs[start:]:
            if self.is_last(run) and left & run.reads:
                yield run
            left -= run.writes - run.mutates
            if not left:
                return
