"""Sparse evidence of two runs, cell by cell: sources, random streams, files, metrics, outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from jupyter_clusterbridge.model.bundle import INJECTED_CELL_ID
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.record import CellRecord, MetricRecord, RunRecord
from jupyter_clusterbridge.model.verdict import Difference, Link

Placed = tuple[int, Difference]
"""A cell index and a difference in it."""

_NONE = "none"
_MODULES = (".py", ".pyi", ".ipynb")


@dataclass(frozen=True)
class CellPair:
    """The same cell on both sides; one side may lack it."""

    baseline: CellRecord | None
    run: CellRecord | None

    @property
    def ended_alike(self) -> bool:
        """Whether both sides have the cell and it came to its end on both, or ended early in the same way."""
        return self.baseline is not None and self.run is not None and self.baseline.status == self.run.status


@dataclass(frozen=True)
class Cut:
    """Cells that came to their end on one side alone: what they lack there is no difference of the model."""

    baseline: frozenset[int | None]
    """Their indices in the baseline."""
    run: frozenset[int | None]
    unfinished: bool
    """Whether one of them is a cell that the run did not finish."""

    @classmethod
    def of(cls, pairs: Iterable[CellPair]) -> Cut:
        """The cut cells of a comparison."""
        cut = [pair for pair in pairs if pair.baseline and pair.run and not pair.ended_alike]
        return cls(
            frozenset(pair.baseline.cell_index for pair in cut if pair.baseline),
            frozenset(pair.run.cell_index for pair in cut if pair.run),
            any(pair.run.status != "ok" for pair in cut if pair.run),
        )


def align_cells(baseline: RunRecord, run: RunRecord) -> tuple[CellPair, ...]:
    """Match cells by id, the rest by source, in the order of the baseline and then of the run.

    The cell that an export injects holds the parameters, which are compared by value.
    """
    ours, theirs = _own_cells(baseline), _own_cells(run)
    by_id = {cell.cell_id: cell for cell in theirs}
    known = {cell.cell_id for cell in ours}
    left = [cell for cell in theirs if cell.cell_id not in known]
    pairs: list[CellPair] = []
    for cell in ours:
        other = by_id.get(cell.cell_id)
        if other is None:
            other = next((c for c in left if c.source_digest == cell.source_digest), None)
            if other is not None:
                left.remove(other)
        pairs.append(CellPair(cell, other))
    pairs.extend(CellPair(None, cell) for cell in left)
    return tuple(pairs)


def moved_cells(pairs: Iterable[CellPair]) -> dict[int, int]:
    """Index in the baseline of each cell of the run that has another one there, as below injected parameters."""
    return {
        pair.run.cell_index: pair.baseline.cell_index
        for pair in pairs
        if pair.baseline is not None and pair.run is not None and pair.baseline.cell_index != pair.run.cell_index
    }


def _own_cells(record: RunRecord) -> list[CellRecord]:
    return [cell for cell in record.cells if cell.cell_id != INJECTED_CELL_ID]


def compare_code(pairs: Iterable[CellPair], baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Parameters with another value, cells that one side lacks, cells whose source differs or that were moved.

    Sources are compared as text, comments included, as the code digest of an identity takes them: a magic or a
    string may look like a comment, and whoever sees the verdict wants to see the edit. Only white space at the
    end of a cell does not count.
    """
    pairs = tuple(pairs)
    for name in sorted({*baseline.parameters} & {*run.parameters}):
        before, after = baseline.parameters[name], run.parameters[name]
        if (type(before), before) != (type(after), after):
            yield Difference(Link.CODE, f"parameter {name}", repr(before), repr(after))
    for pair in pairs:
        if pair.baseline is None and pair.run is not None:
            where = f"cell {pair.run.cell_index}"
            yield Difference(Link.CODE, where, "no such cell", short(pair.run.source_digest))
        elif pair.run is None and pair.baseline is not None:
            where = f"cell {pair.baseline.cell_index}"
            yield Difference(Link.CODE, where, short(pair.baseline.source_digest), "no such cell")
        elif pair.baseline is not None and pair.run is not None and _edited(pair.baseline, pair.run):
            where = f"cell {pair.baseline.cell_index}"
            before, after = short(pair.baseline.source_digest), short(pair.run.source_digest)
            yield Difference(Link.CODE, where, f"source {before}", f"source {after}")
    yield from _moved_cells(pairs)


def _moved_cells(pairs: Iterable[CellPair]) -> Iterator[Difference]:
    """The first cell that runs in another place among the cells that both sides have."""
    both = [(pair.run.cell_index, pair.baseline.cell_index) for pair in pairs if pair.baseline and pair.run]
    for (_, before), (_, after) in zip(both, sorted(both), strict=True):
        if before != after:
            where = f"order of cells {min(before, after)} and {max(before, after)}"
            yield Difference(
                Link.CODE, where, f"cell {before} before cell {after}", f"cell {after} before cell {before}"
            )
            return


def _edited(baseline: CellRecord, run: CellRecord) -> bool:
    return baseline.source_digest != run.source_digest


def compare_files(baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Data files and local modules with another content, folders listed in another order or with other names."""
    theirs = {file.path: file for file in run.files}
    for file in baseline.files:
        other = theirs.get(file.path)
        if other is None or file.digest is None or other.digest is None or file.digest == other.digest:
            continue
        where = f"{file.path}, read in cell {_cell(other.cell_index)}"
        link = Link.CODE if is_module(file.path) else Link.DATA_FILE
        yield Difference(link, where, short(file.digest), short(other.digest))
    listings = {listing.path: listing for listing in run.listings}
    for listing in baseline.listings:
        match = listings.get(listing.path)
        if match is None or match.order_digest == listing.order_digest:
            continue
        where = f"folder {listing.path}, listed in cell {_cell(match.cell_index)}"
        if match.set_digest != listing.set_digest:
            yield Difference(Link.DATA_FILE, where, f"{listing.count} names", f"{match.count} names, not the same")
        else:
            before, after = short(listing.order_digest), short(match.order_digest)
            yield Difference(Link.LISTING_ORDER, where, f"order {before}", f"order {after}")


def is_module(path: str) -> bool:
    """Whether a file that was read is a part of the code: Python or a notebook below the notebook's folder.

    >>> is_module("helper.py"), is_module("data.csv"), is_module("/srv/helper.py")
    (True, False, False)
    """
    return path.endswith(_MODULES) and not path.startswith(("/", "~", "../"))


def _cell(index: int | None) -> str:
    return "?" if index is None else str(index)


@dataclass(frozen=True)
class StreamDifference:
    """A random stream that a cell moved and that stands elsewhere afterwards."""

    cell_index: int
    difference: Difference
    incidental: bool
    """Python's own stream, never seeded: libraries draw from it when they are imported, for names and the like."""
    appeared: bool = False
    """Its library was loaded in this very cell, so that a draw cannot be told from the loading alone."""


def compare_rng(pairs: Iterable[CellPair]) -> Iterator[StreamDifference]:
    """Random streams that a cell moved and that stand elsewhere afterwards.

    A stream that neither run moved in a cell is left out: its state is the entropy of the process's start.
    """
    for pair in pairs:
        if pair.baseline is None or pair.run is None or not pair.baseline.status or not pair.ended_alike:
            continue
        for stream in sorted({*pair.baseline.rng_after, *pair.run.rng_after}):
            before, after = pair.baseline.rng_after.get(stream), pair.run.rng_after.get(stream)
            appeared = stream not in {**pair.baseline.rng_before, **pair.run.rng_before}
            moved = _moved(pair.baseline, stream) or _moved(pair.run, stream) or appeared
            if before == after or not moved:
                continue
            where = f"cell {pair.baseline.cell_index}, stream {stream}"
            unseeded = pair.baseline.rng_before.get(stream) != pair.run.rng_before.get(stream)
            yield StreamDifference(
                pair.baseline.cell_index,
                Difference(Link.RNG, where, before or "not loaded", after or "not loaded"),
                incidental=unseeded and stream == "python",
                appeared=appeared,
            )


def _moved(cell: CellRecord, stream: str) -> bool:
    before = cell.rng_before.get(stream)
    return before is not None and before != cell.rng_after.get(stream)


def compare_metrics(baseline: RunRecord, run: RunRecord, cut: Cut) -> Iterator[Placed]:
    """The first difference of each metric, in order of logging; a value that one side lacks is one too.

    Placed by the cell that logged it, -1 where that is not known.
    """
    ours, theirs = _series(baseline), _series(run)
    for name in dict.fromkeys((*ours, *theirs)):
        for before, after in zip_longest(ours.get(name, ()), theirs.get(name, ())):
            if before is None and after.cell_index in cut.run:
                break
            if after is None and before.cell_index in cut.baseline:
                break
            if before is None or after is None or repr(before.value) != repr(after.value):
                metric = after if before is None else before
                place = name if metric.step is None else f"{name}, step {metric.step}"
                cell = -1 if metric.cell_index is None else metric.cell_index
                yield cell, Difference(Link.METRIC, place, _value(before), _value(after))
                break


def _value(metric: MetricRecord | None) -> str:
    return _NONE if metric is None else repr(metric.value)


def _series(record: RunRecord) -> dict[str, list[MetricRecord]]:
    series: dict[str, list[MetricRecord]] = {}
    for metric in record.metrics:
        series.setdefault(metric.name, []).append(metric)
    return series


def compare_artifacts(baseline: RunRecord, run: RunRecord, cut: Cut) -> Iterator[Difference]:
    """Declared artifacts with another content; one that a cell wrote which was cut off may be half a file."""
    if cut.unfinished:
        return
    theirs = {artifact.path: artifact for artifact in run.artifacts}
    for artifact in baseline.artifacts:
        other = theirs.get(artifact.path)
        if artifact.digest is None or other is None or other.digest == artifact.digest:
            continue
        after = "missing" if other.digest is None else short(other.digest)
        yield Difference(Link.OUTPUT, f"artifact {artifact.path}", short(artifact.digest), after)


def outputs_compared(pairs: Iterable[CellPair]) -> bool:
    """Whether both sides know what at least one cell printed."""
    return any(
        pair.baseline is not None
        and pair.run is not None
        and pair.baseline.output_digest is not None
        and pair.run.output_digest is not None
        for pair in pairs
    )


def compare_outputs(pairs: Iterable[CellPair]) -> Iterator[Difference]:
    """Cells whose printed text differs once times, addresses and progress bars are taken out."""
    for pair in pairs:
        if pair.baseline is None or pair.run is None:
            continue
        before, after = pair.baseline.output_digest, pair.run.output_digest
        if pair.ended_alike and before is not None and after is not None and before != after:
            where = f"printed text of cell {pair.baseline.cell_index}"
            yield Difference(Link.OUTPUT, where, short(before), short(after))
