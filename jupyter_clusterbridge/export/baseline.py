"""The baseline of a bundle: a recorded run, counted as the job will count its cells."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from jupyter_clusterbridge.model.canonical import pretty_json
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.evidence import MAGIC, ROW
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.model.record import (
    RECORD_FILE,
    STEPS_FILE,
    CellRecord,
    FileRecord,
    ListingRecord,
    MetricRecord,
    RunRecord,
)

Placed = TypeVar("Placed", FileRecord, ListingRecord, MetricRecord, CellRecord)


@dataclass(frozen=True)
class Baseline:
    """A run record and where its dense evidence lies."""

    record: RunRecord
    steps: Path | None
    moved: Mapping[int, int] = field(default_factory=dict)
    """New cell index by old one, where the cells of the dense evidence are still counted as they were."""


def counted_for(baseline: Baseline, notebook: Notebook) -> Baseline:
    """The baseline with its cells counted as in ``notebook``, which may have one more than the file."""
    index = {cell.id: cell.index for cell in notebook.code_cells}
    pairs = ((cell.cell_index, index.get(cell.cell_id, cell.cell_index)) for cell in baseline.record.cells)
    moved = {old: new for old, new in pairs if old != new}
    return Baseline(_renumbered(baseline.record, moved), baseline.steps, moved)


def write_baseline(baseline: Baseline, record: RunRecord, folder: Path) -> None:
    """Write a baseline for a bundle.

    Args:
        baseline: as :func:`counted_for` gives it.
        record: its record as the bundle shall have it.
        folder: the folder to make, for ``record.json`` and ``steps.bin``.
    """
    folder.mkdir()
    (folder / RECORD_FILE).write_bytes(pretty_json(to_json(record)))
    if baseline.steps is not None:
        _write_steps(baseline.steps, folder / STEPS_FILE, baseline.moved)


def _renumbered(record: RunRecord, places: Mapping[int, int]) -> RunRecord:
    if not places:
        return record
    return dataclasses.replace(
        record,
        cells=_moved(record.cells, places),
        files=_moved(record.files, places),
        listings=_moved(record.listings, places),
        metrics=_moved(record.metrics, places),
    )


def _moved(items: tuple[Placed, ...], places: Mapping[int, int]) -> tuple[Placed, ...]:
    return tuple(
        item
        if item.cell_index is None
        else dataclasses.replace(item, cell_index=places.get(item.cell_index, item.cell_index))
        for item in items
    )


def _write_steps(source: Path, target: Path, places: Mapping[int, int]) -> None:
    with source.open("rb") as rows, target.open("wb") as out:
        out.write(rows.read(len(MAGIC)))
        while chunk := rows.read(ROW.size * 65536):
            whole = chunk[: len(chunk) - len(chunk) % ROW.size]
            if places:
                whole = b"".join(
                    ROW.pack(kind, places.get(where, where), ordinal, a, b)
                    for kind, where, ordinal, a, b in ROW.iter_unpack(whole)
                )
            out.write(whole)
        out.flush()
        os.fsync(out.fileno())
