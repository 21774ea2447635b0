"""What to run again, and in which order, so that a cell finds what a clean run gives it."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.recorder.pieces import Piece
from jupyter_clusterbridge.recorder.replay import Replay
from jupyter_clusterbridge.recorder.versions import State, is_chance

_LONGEST = 12
"""Cells to run again from which on a restart is the simpler advice."""
FROM_TOP = "restart the kernel and run all cells from the top"


class Remedies:
    """Finds the shortest list of cells to run by trying it on what the newest kernel holds.

    Args:
        cells: code cells of the saved file.
        replay: what happened to them.
    """

    def __init__(self, cells: Sequence[Cell], replay: Replay) -> None:
        self._cells = cells
        self._replay = replay

    def current(self, position: int) -> str:
        """How to bring a cell to what a clean run makes of it."""
        before = self._before(position)
        if before is None:
            return FROM_TOP
        return f"run {self._named(before)} first, then this cell" if before else "run this cell again"

    def again(self, position: int) -> str:
        """What to do before a cell that accumulates is run once more."""
        before = self._before(position)
        return f"run {self._named(before)} first" if before else FROM_TOP

    def _before(self, position: int) -> list[int] | None:
        """Cells to run before one, in file order; None where no such list helps."""
        chosen = {position}
        while len(chosen) <= _LONGEST:
            wanted = self._first_wanted(sorted(chosen))
            if wanted is None:
                return sorted(chosen - {position})
            if wanted < 0 or wanted in chosen:
                return None
            chosen.add(wanted)
        return None

    def _first_wanted(self, order: Sequence[int]) -> int | None:
        """The cell that makes the first thing missed when cells run in this order; None when all goes well.

        Negative when no cell makes it.
        """
        replay = self._replay
        state = replay.final.copy()
        for location, version in replay.outside().items():
            now = state.find(location)
            if now is None or (now.outside and not location.startswith("module:")):
                state.put(location, version)  # a run of today finds what lies there today
        for number, piece in enumerate(replay.pieces):
            if piece.cell not in order:
                continue
            access = replay.usual_access(number, state)
            clean = replay.expected[number]
            for location in access.reads - access.mutates:
                _forget_own(state, location, piece)
            for location in sorted(state.whole(access.reads) | clean.whole(access.reads)):
                actual, expected = state.find(location), clean.find(location)
                if is_chance(location, actual) and is_chance(location, expected):
                    continue
                if (actual and actual.term) != (expected and expected.term):
                    return expected.cell if expected is not None and expected.cell is not None else -1
            replay.run_clean(number, state)
        return None

    def _named(self, positions: Sequence[int]) -> str:
        """Cells in words.

        Neighbours that are next to each other among the code cells are joined.
        """
        numbers = [str(self._cells[position].index) for position in positions]
        if len(numbers) == 1:
            return f"cell {numbers[0]}"
        if len(numbers) > 2 and positions[-1] - positions[0] == len(positions) - 1:
            return f"cells {numbers[0]} to {numbers[-1]}"
        return f"cells {', '.join(numbers[:-1])} and {numbers[-1]}"


def _forget_own(state: State, location: str, piece: Piece) -> None:
    """Look behind what a cell made itself before: where it does not accumulate it finds what it found at first."""
    version = state.versions.get(location)
    while (
        version is not None
        and version.cell == piece.cell
        and (version.run is None or version.run.key == piece.key)
    ):
        for part, older in version.parts.items():
            state.put(part, older)
        version = version.base
    if version is None:
        state.versions.pop(location, None)
    elif location in state.versions:
        state.put(location, version)
