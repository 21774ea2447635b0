"""Which cell of the saved file each run belongs to: by id, by source, by statements, by likeness."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.pieces import Piece, split_run, statement_keys
from jupyter_clusterbridge.recorder.runs import Kernel, Run

_ALIKE = 0.6
"""Share of equal text from which a source that is not in the file counts as an older version of a cell."""


def match_runs(cells: Sequence[Cell], kernels: Sequence[Kernel]) -> list[Piece]:
    """Set ``cell`` and ``piece`` of every run.

    Front ends that keep no ids, or others than the file, leave runs that only their source can place: all runs of
    such an id go to the cell whose source one of them had. A run of a cell that was split is replaced by runs of
    its parts; a cell that was merged from others consists of the pieces that ran.

    Returns:
        The pieces of the file in order: one for each cell, several for a merged one.
    """
    by_id = {cell.id: position for position, cell in enumerate(cells)}
    for run in _all(kernels):
        run.cell = by_id.get(run.cell_id) if run.cell_id is not None else None
    # what ids tell comes first: equal statements may stand in several cells
    _split(cells, kernels)
    _merged(cells, kernels, known=True)
    _by_source(cells, kernels)
    _split(cells, kernels, known=False)
    pieces = _merged(cells, kernels)
    _by_likeness(cells, kernels)
    _place(pieces, kernels)
    return pieces


def _all(kernels: Sequence[Kernel]) -> list[Run]:
    return [run for kernel in kernels for run in kernel.runs]


def _key(cell: Cell) -> str:
    return analyse_cell(cell.source).key


def _by_source(cells: Sequence[Cell], kernels: Sequence[Kernel]) -> None:
    taken = {run.cell for run in _all(kernels) if run.cell is not None}
    free: dict[str, list[int]] = {}
    for position, cell in enumerate(cells):
        if position not in taken:
            free.setdefault(_key(cell), []).append(position)
    for kernel in kernels:
        last: dict[str, int] = {}
        for group in _groups(kernel.runs):
            key = next((run.key for run in reversed(group) if run.key in free), None)
            if key is None:
                continue
            places = free[key]
            # equal cells were most likely run in the order of the file
            place = next((position for position in places if position > last.get(key, -1)), places[-1])
            last[key] = place
            for run in group:
                run.cell = place


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs without a cell, those of one id together."""
    groups: dict[str, list[Run]] = {}
    for number, run in enumerate(runs):
        if run.cell is None:
            groups.setdefault(run.cell_id or f"\0{number}", []).append(run)
    return list(groups.values())


def _split(cells: Sequence[Cell], kernels: Sequence[Kernel], known: bool = True) -> None:
    """Replace runs of cells that were split by runs of the parts.

    Args:
        cells: code cells of the saved file.
        kernels: kernels with their runs.
        known: only runs whose cell the file has.
    """
    for kernel in kernels:
        runs: list[Run] = []
        after = -1
        for run in kernel.runs:
            exact = run.cell is not None and _key(cells[run.cell]) == run.key
            left_out = exact or not run.complete or (known and run.cell is None)
            pieces = [] if left_out else _cover(run, cells, after)
            after = pieces[-1].cell if pieces else after
            runs.extend(split_run(run, pieces) if pieces else [run])
        kernel.runs[:] = runs


def _cover(run: Run, cells: Sequence[Cell], after: int) -> list[Piece]:
    """The cells in file order that say together what a run said; empty when there are none.

    Neighbours come first, and among them those below the last that were found.
    """
    starts = range(len(cells))
    found = [pieces for start in starts if (pieces := _said_from(run, cells, start, gaps=False))]
    found += [pieces for start in starts if (pieces := _said_from(run, cells, start, gaps=True))]
    if run.cell is not None:
        found = [pieces for pieces in found if any(piece.cell == run.cell for piece in pieces)]
    below = [pieces for pieces in found if pieces[0].cell > after]
    return next(iter(below or found), [])


def _said_from(run: Run, cells: Sequence[Cell], start: int, gaps: bool) -> list[Piece]:
    left = statement_keys(run.source)
    found: list[Piece] = []
    for position in range(start, len(cells)):
        keys = statement_keys(cells[position].source)
        if keys and keys == left[: len(keys)]:
            found.append(Piece(position, cells[position].source))
            left = left[len(keys) :]
        elif position == start or (keys and not gaps) or not left:
            break
    return found if not left and len(found) > 1 else []


def _merged(cells: Sequence[Cell], kernels: Sequence[Kernel], known: bool = False) -> list[Piece]:
    """The pieces of the file: a cell that never ran as it stands may consist of parts that did.

    Args:
        cells: code cells of the saved file.
        kernels: kernels with their runs.
        known: only cells that ran under their ids.
    """
    ran = {(run.cell, run.key) for run in _all(kernels)}
    ids = {run.cell for run in _all(kernels)}
    pieces: list[Piece] = []
    for position, cell in enumerate(cells):
        whole = Piece(position, cell.source)
        left_out = (position, whole.key) in ran or (known and position not in ids)
        parts = [] if left_out else _parts(position, cell, cells, kernels)
        pieces.extend(parts or [whole])
        for run in _all(kernels):
            if any(run.cell is None and run.key == part.key for part in parts):
                run.cell = position
    return pieces


def _parts(position: int, cell: Cell, cells: Sequence[Cell], kernels: Sequence[Kernel]) -> list[Piece]:
    """Runs of one kernel whose statements, one run after the other, are those of a cell."""
    wanted = statement_keys(cell.source)
    for kernel in reversed(kernels):
        known: dict[tuple[str, ...], str] = {}
        for run in kernel.runs:
            if run.complete and run.cell in (None, position):
                known[statement_keys(run.source)] = run.source
        found = _concatenation(wanted, known)
        if len(found) > 1:
            return [Piece(position, source) for source in found]
    return []


def _concatenation(wanted: tuple[str, ...], known: dict[tuple[str, ...], str]) -> list[str]:
    """Sources whose statements together are those that are wanted; empty when there are none."""
    ways: dict[int, list[str]] = {0: []}
    for start in range(len(wanted)):
        if start in ways:
            for keys, source in known.items():
                if keys and wanted[start : start + len(keys)] == keys:
                    ways.setdefault(start + len(keys), [*ways[start], source])
    return ways.get(len(wanted), [])


def _by_likeness(cells: Sequence[Cell], kernels: Sequence[Kernel]) -> None:
    """Give runs that are left to the cell that reads like them and binds the same: it was edited since.

    Only runs of front ends whose ids the file does not know, never of a cell that was told to be deleted, and
    never to a cell that had run by then as it stands.
    """
    known = {run.cell_id for run in _all(kernels) if run.cell is not None} & {cell.id for cell in cells}
    if known:
        return
    for kernel in kernels:
        for group in _groups(kernel.runs):
            if group[-1].cell_id in kernel.deleted:
                continue
            before = kernel.runs[: kernel.runs.index(group[-1])]
            done = {run.cell for run in before if run.cell is not None and run.key == _key(cells[run.cell])}
            likes = [
                (_likeness(group[-1].source, cell.source), -position)
                for position, cell in enumerate(cells)
                if position not in done
            ]
            share, place = max(likes, default=(0.0, 0))
            if share >= _ALIKE:
                for run in group:
                    run.cell = -place


def _likeness(before: str, after: str) -> float:
    binds = analyse_cell(before).total.binds & analyse_cell(after).total.binds
    return difflib.SequenceMatcher(None, before, after, autojunk=False).ratio() if binds else 0.0


def _place(pieces: Sequence[Piece], kernels: Sequence[Kernel]) -> None:
    """Set ``piece``: older versions of a cell count as runs of its only piece."""
    of_cell: dict[int, list[int]] = {}
    for number, piece in enumerate(pieces):
        of_cell.setdefault(piece.cell, []).append(number)
    for run in _all(kernels):
        if run.cell is not None:
            run.piece = next(_pieces_of(run, of_cell[run.cell], pieces), None)


def _pieces_of(run: Run, numbers: Sequence[int], pieces: Sequence[Piece]) -> Iterator[int]:
    for number in numbers:
        if len(numbers) == 1 or pieces[number].key == run.key:
            yield number
