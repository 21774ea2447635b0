"""Sparse evidence of two runs, cell by cell: sources, random streams, files, metrics, outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jupyter_clusterbridge.model.bundle import INJECTED_CELL_ID
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.record import CellRecord, RunRecord
from jupyter_clusterbridge.model.verdict import Difference, Link

Placed = tuple[int, Difference]
"""A cell index and a difference in it."""

_NONE = "none"


@dataclass(frozen=True)
class CellPair:
    """The same cell on both sides; one side may lack it."""

    baseline: CellRecord | None
    run: CellRecord | None


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


def _own_cells(record: RunRecord) -> list[CellRecord]:
    return [cell for cell in record.cells if cell.cell_id != INJECTED_CELL_ID]


def compare_code(pairs: Iterable[CellPair], baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Cells whose source differs, cells that one side lacks, parameters with another value."""
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


def _edited(baseline: CellRecord, run: CellRecord) -> bool:
    return baseline.source_digest != run.source_digest


def compare_files(baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Data files with another content, and folders listed in another order or with other names."""
    theirs = {file.path: file for file in run.files}
    for file in baseline.files:
        other = theirs.get(file.path)
        if other is None or file.digest is None or other.digest is None or file.digest == other.digest:
            continue
        where = f"{file.path}, read in cell {_cell(other.cell_index)}"
        yield Difference(Link.DATA_FILE, where, short(file.digest), short(other.digest))
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


def _cell(index: int | None) -> str:
    return "?" if index is None else str(index)


@dataclass(frozen=True)
class StreamDifference:
    """A random stream that a cell moved and that stands elsewhere afterwards."""

    cell_index: int
    difference: Difference
    incidental: bool
    """Python's own stream, never seeded: libraries draw from it when they are imported, for names and the like."""


def compare_rng(pairs: Iterable[CellPair]) -> Iterator[StreamDifference]:
    """Random streams that a cell moved and that stand elsewhere afterwards.

    A stream that neither run moved in a cell is left out: its state is the entropy of the process's start.
    """
    for pair in pairs:
        if pair.baseline is None or pair.run is None or not pair.baseline.status:
            continue
        for stream in sorted({*pair.baseline.rng_after, *pair.run.rng_after}):
            before, after = pair.baseline.rng_after.get(stream), pair.run.rng_after.get(stream)
            if before == after or not (_moved(pair.baseline, stream) or _moved(pair.run, stream)):
                continue
            where = f"cell {pair.baseline.cell_index}, stream {stream}"
            unseeded = pair.baseline.rng_before.get(stream) != pair.run.rng_before.get(stream)
            yield StreamDifference(
                pair.baseline.cell_index,
                Difference(Link.RNG, where, before or "not loaded", after or "not loaded"),
                incidental=unseeded and stream == "python",
            )


def _moved(cell: CellRecord, stream: str) -> bool:
    before = cell.rng_before.get(stream)
    return before is not None and before != cell.rng_after.get(stream)


def compare_metrics(baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Metrics by name and order of logging."""
    theirs = _series(run)
    for name, values in _series(baseline).items():
        others = theirs.get(name, [])
        for position, (step, value) in enumerate(values):
            place = name if step is None else f"{name}, step {step}"
            if position >= len(others):
                yield Difference(Link.METRIC, place, repr(value), _NONE)
                break
            if repr(value) != repr(others[position][1]):
                yield Difference(Link.METRIC, place, repr(value), repr(others[position][1]))
                break


def _series(record: RunRecord) -> dict[str, list[tuple[int | None, float]]]:
    series: dict[str, list[tuple[int | None, float]]] = {}
    for metric in record.metrics:
        series.setdefault(metric.name, []).append((metric.step, metric.value))
    return series


def compare_artifacts(baseline: RunRecord, run: RunRecord) -> Iterator[Difference]:
    """Declared artifacts with another content."""
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
        if before is not None and after is not None and before != after:
            where = f"printed text of cell {pair.baseline.cell_index}"
            yield Difference(Link.OUTPUT, where, short(before), short(after))
