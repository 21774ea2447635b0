"""A day of work in one kernel: a notebook whose cells are run again and again, some of them edited in between."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

from kernels import CLUSTERBRIDGE, Kernel

RUNS = 2000
_LOAD = """import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
frame = pd.DataFrame({"group": rng.integers(0, 50, 20_000), "x": rng.random(20_000), "y": rng.random(20_000)})
frame.head()"""
_PREPARE = """# take out what lies far from the rest, and bring the columns to one scale
def prepare_{i}(data, columns=("x", "y"), limit={n}):
    out = data.copy()
    for column in columns:
        low, high = out[column].quantile([0.01, 0.99])
        out = out[(out[column] >= low) & (out[column] <= high)]
        out[column] = (out[column] - out[column].mean()) / out[column].std()
    return out.head(limit * 1000)


clean_{i} = prepare_{i}(frame)
print(len(clean_{i}), clean_{i}["x"].mean())"""
_FIT = """lr_{i} = 0.0{n}1
weights_{i} = np.zeros(2)
history_{i} = []
for epoch in range(5):
    error = clean_{i}[["x", "y"]].to_numpy() @ weights_{i} - clean_{i}["group"].to_numpy()
    weights_{i} -= lr_{i} * clean_{i}[["x", "y"]].to_numpy().T @ error / len(error)
    history_{i}.append(float((error**2).mean()))
history_{i}[-1]"""
_LOOK = """summary_{i} = clean_{i}.groupby("group")[["x", "y"]].agg(["mean", "std"])
# {n}
summary_{i}.describe()"""
PARTS = (_PREPARE, _FIT, _LOOK)


@dataclass(frozen=True)
class Day:
    """What a day left behind; sizes in bytes."""

    cells: int
    runs: int
    edits: int
    journal: int


def sources(groups: int, edit: int) -> list[str]:
    """The notebook's cells; ``edit`` numbers its state."""
    made = [_LOAD]
    for i in range(groups):
        made += [part.replace("{i}", str(i)).replace("{n}", str(1 + edit)) for part in PARTS]
    return made


def schedule(runs: int, groups: int = 13) -> list[tuple[str, str]]:
    """Cell ids and sources in the order of the day: one cell in ten was edited since its last run."""
    plan: list[tuple[str, str]] = []
    versions = [0] * len(sources(groups, 0))
    chance = random.Random(0)
    while len(plan) < runs:
        position = len(plan) % len(versions)
        if len(plan) >= len(versions) and chance.random() < 0.1:
            versions[position] += 1
        plan.append((f"cell-{position}", sources(groups, versions[position])[position]))
    return plan


def measure_day(folder: Path, runs: int = RUNS) -> Day:
    """Run the day in a real kernel and weigh its journal."""
    place = folder / "day"
    place.mkdir()
    plan = schedule(runs)
    kernel = Kernel(CLUSTERBRIDGE, sys.executable, place)
    try:
        for cell_id, source in plan:
            kernel.run(source, cell_id)
    finally:
        kernel.close()
    found = list((place / ".clusterbridge").rglob("*"))
    journal = sum(path.stat().st_size for path in found if path.suffix == ".jsonl")
    cells = {cell_id for cell_id, _ in plan}
    edits = len(set(plan)) - len(cells)
    return Day(len(cells), runs, edits, journal)
