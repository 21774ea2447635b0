"""Rows of step evidence for the verdict's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from jupyter_clusterbridge.model.evidence import Row, RowKind, loss_bits

StepsWriter = Callable[[str, Iterable[Row]], Path]


def training_rows(
    *, epochs: int = 2, batches: int = 3, cell: int = 3, index: int = 10, content: int = 20, weights: int = 7
) -> list[Row]:
    """Rows as a seeded training loop leaves them."""
    rows: list[Row] = []
    step = 0
    for epoch in range(epochs):
        rows.append(Row(RowKind.EPOCH, cell, epoch, 0, epoch))
        for batch in range(batches):
            rows.append(Row(RowKind.BATCH, cell, step, index + step, content + step))
            rows.append(Row(RowKind.LOSS, cell, step, loss_bits(1.0 / (step + 1)), 1))
            if step == 0:
                rows.append(Row(RowKind.WEIGHTS, cell, 0, weights, 100))
            rows.append(Row(RowKind.STEP, cell, step, step, 0))
            step += 1
            del batch
    return rows
