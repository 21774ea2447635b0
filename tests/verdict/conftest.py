"""Small run records for the verdict's tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from verdict_records import StepsWriter

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.model.evidence import MAGIC, Row
from jupyter_clusterbridge.model.record import CellRecord, FileRecord, ListingRecord, MetricRecord, RunRecord


@pytest.fixture
def write_steps(tmp_path: Path) -> StepsWriter:
    """Write rows to a steps file and return its path."""

    def write(name: str, rows: Iterable[Row]) -> Path:
        path = tmp_path / name
        path.write_bytes(MAGIC + b"".join(row.pack() for row in rows))
        return path

    return write


@pytest.fixture
def record() -> RunRecord:
    """A record of four cells that seeds, draws, trains and evaluates."""
    states = ["s0", "s1", "s2", "s3", "s4"]
    cells = tuple(
        CellRecord(
            cell_id=f"c{index}",
            cell_index=index,
            source_digest=f"sha256:{index}",
            runs=1,
            status="ok",
            rng_before={"torch": states[index], "python": "entropy"},
            rng_after={"torch": states[index + 1], "python": "entropy"},
        )
        for index in range(4)
    )
    environment = Environment(
        python="3.11.7",
        distributions=(
            Distribution("numpy", "2.0.0", loaded=True),
            Distribution("torch", "2.13.0", loaded=True),
            Distribution("unused", "1.0", loaded=False),
        ),
        threads={"torch": 2},
    )
    return RunRecord(
        role="notebook",
        cells=cells,
        environment=environment,
        parameters={"SEED": 0},
        files=(FileRecord("data/train.csv", 10, "sha256:aa", 1),),
        listings=(ListingRecord("data", 2, "sha256:order", "sha256:set", 1),),
        metrics=(MetricRecord("accuracy", 0.95, None, 3),),
        steps=6,
        step_rows=22,
    )
