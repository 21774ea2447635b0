"""The dense evidence of two runs, held side by side: where each kind of row first differs."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from jupyter_clusterbridge.model.evidence import MAGIC, ROW, Row, RowKind, loss_value, read_rows
from jupyter_clusterbridge.model.verdict import Difference, Link

_CHUNK = ROW.size * 32768
_WINDOW = 200_000
"""Rows that are looked at after the first difference to find that of every other kind."""

_Key = tuple[RowKind, int, int]


@dataclass(frozen=True)
class StepDiff:
    """The first difference of each kind, with the cell it stands in."""

    differences: tuple[tuple[int, Difference], ...]
    """Pairs of cell index and difference."""
    compared: int
    """Rows that were equal before the first difference, or all."""


def compare_steps(
    baseline: Path | None,
    run: Path | None,
    cut: Collection[int | None] = (),
    cells: Mapping[int, int] | None = None,
) -> StepDiff:
    """Compare two steps files; a missing file counts as an empty one.

    Args:
        baseline: steps file of the baseline.
        run: steps file of the run.
        cut: cells of the baseline that came to their end on one side only; rows that one side alone has do not
            count there.
        cells: the baseline's index of those cells of the run that have another index.

    Equal files are compared as bytes in chunks, so that ten million steps take a second or two and a
    constant amount of memory.
    """
    moved = cells or {}
    equal = _equal_rows(baseline, run, moved)
    before = list(itertools.islice(_rows(baseline, equal), _WINDOW))
    after = list(itertools.islice(_rows(run, equal, moved), _WINDOW))
    if not before and not after:
        return StepDiff((), equal)
    return StepDiff(tuple(_first_of_each(before, after, _epochs_until(baseline, equal), cut)), equal)


def _equal_rows(baseline: Path | None, run: Path | None, cells: Mapping[int, int]) -> int:
    """Number of leading rows that are equal in both files."""
    if baseline is None or run is None:
        return 0
    rows = 0
    with baseline.open("rb") as left, run.open("rb") as right:
        left.seek(len(MAGIC))
        right.seek(len(MAGIC))
        while True:
            one, two = left.read(_CHUNK), _renumbered(right.read(_CHUNK), cells)
            if one == two and one:
                rows += len(one) // ROW.size
                continue
            shorter = min(len(one), len(two)) // ROW.size
            for index in range(shorter):
                part = slice(index * ROW.size, (index + 1) * ROW.size)
                if one[part] != two[part]:
                    return rows + index
            return rows + shorter


def _renumbered(chunk: bytes, cells: Mapping[int, int]) -> bytes:
    """Rows with the baseline's cell indices; a torn last row is dropped."""
    if not cells:
        return chunk
    words = array("I", chunk[: len(chunk) - len(chunk) % ROW.size])
    step = ROW.size // words.itemsize
    words[1::step] = array("I", [cells.get(where, where) for where in words[1::step]])
    return words.tobytes()


def _rows(path: Path | None, skip: int, cells: Mapping[int, int] = MappingProxyType({})) -> Iterator[Row]:
    if path is None:
        return
    with path.open("rb") as handle:
        handle.seek(len(MAGIC) + skip * ROW.size)
        chunk = handle.read(_WINDOW * ROW.size)
    whole = len(chunk) - len(chunk) % ROW.size
    for kind, where, ordinal, a, b in ROW.iter_unpack(chunk[:whole]):
        yield Row(RowKind(kind), cells.get(where, where), ordinal, a, b)


class _Epochs:
    """Follows which epoch each cell is in, so that a batch is named as people count it."""

    def __init__(self) -> None:
        self._batches: dict[int, int] = {}
        self._current: dict[int, tuple[int, int]] = {}

    def observe(self, row: Row) -> None:
        """Take one row of the baseline, in order."""
        if row.kind is RowKind.EPOCH:
            self._current[row.where] = (row.b, self._batches.get(row.where, 0))
        elif row.kind is RowKind.BATCH:
            self._batches[row.where] = row.ordinal + 1

    def place(self, row: Row) -> str:
        """Name the place of a batch."""
        if row.where not in self._current:
            return f"cell {row.where}, batch {row.ordinal}"
        epoch, first = self._current[row.where]
        return f"cell {row.where}, epoch {epoch}, batch {row.ordinal - first}"


def _epochs_until(path: Path | None, equal: int) -> _Epochs:
    """The epochs begun within the equal rows; not followed through more rows than a window holds."""
    epochs = _Epochs()
    if path is not None and equal <= _WINDOW:
        for row in itertools.islice(read_rows(path), equal):
            epochs.observe(row)
    return epochs


def _first_of_each(
    before: list[Row], after: list[Row], epochs: _Epochs, cut: Collection[int | None]
) -> Iterator[tuple[int, Difference]]:
    theirs = {_key(row): row for row in after}
    ours = {_key(row): row for row in before}
    seen: set[Link] = set()
    for row in before:
        epochs.observe(row)
        if row.where in cut and _key(row) not in theirs:
            continue
        found = _compare_row(row, theirs.get(_key(row)), epochs)
        if found is not None and found.link not in seen:
            seen.add(found.link)
            yield row.where, found
    for row in after:
        if _key(row) in ours or row.where in cut or len(before) >= _WINDOW:
            continue
        extra = _extra_row(row)
        if extra is not None and extra.link not in seen:
            seen.add(extra.link)
            yield row.where, extra


def _key(row: Row) -> _Key:
    return (row.kind, row.where, row.ordinal)


def _compare_row(row: Row, other: Row | None, epochs: _Epochs) -> Difference | None:
    if other is not None and (row.a, row.b) == (other.a, other.b):
        return None
    if row.kind is RowKind.BATCH:
        return _batch(row, other, epochs)
    if row.kind is RowKind.LOSS:
        place = f"cell {row.where}, loss {row.ordinal}"
        after = "no such step" if other is None else _loss(other)
        return Difference(Link.LOSS, place, _loss(row), after)
    if row.kind is RowKind.WEIGHTS:
        place = f"cell {row.where}, optimizer {row.ordinal}"
        after = "none" if other is None else _hash(other.a)
        return Difference(Link.INITIAL_WEIGHTS, place, _hash(row.a), after)
    return None


def _batch(row: Row, other: Row | None, epochs: _Epochs) -> Difference:
    place = epochs.place(row)
    if other is None:
        return Difference(Link.INDEX_ORDER, place, _hash(row.a), "no such batch")
    if row.a != other.a:
        return Difference(Link.INDEX_ORDER, place, _hash(row.a), _hash(other.a))
    return Difference(Link.BATCH_CONTENT, place, _hash(row.b), _hash(other.b))


def _extra_row(row: Row) -> Difference | None:
    links = {
        RowKind.BATCH: (Link.INDEX_ORDER, "batch"),
        RowKind.LOSS: (Link.LOSS, "loss"),
        RowKind.WEIGHTS: (Link.INITIAL_WEIGHTS, "optimizer"),
    }
    if row.kind not in links:
        return None
    link, word = links[row.kind]
    after = _loss(row) if row.kind is RowKind.LOSS else _hash(row.a)
    return Difference(link, f"cell {row.where}, {word} {row.ordinal}", "none", after)


def _loss(row: Row) -> str:
    return repr(loss_value(row.a))


def _hash(value: int) -> str:
    return f"{value:016x}"
