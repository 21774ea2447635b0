"""Cost of the evidence hooks: per training step of 1 ms and 10 ms, per batch, per cell. Prints tables only.

Run: ``python benchmarks/hooks.py [--blocks N]``. Needs torch. Steps with and without hooks alternate in blocks
within one process on one thread, and CPU time is taken, so that a busy machine does not count; the ratio is that
of the medians over the blocks.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from jupyter_clusterbridge.runtime.fingerprint import content_hash
from jupyter_clusterbridge.runtime.journal import JournalWriter
from jupyter_clusterbridge.runtime.rng import rng_fingerprints
from jupyter_clusterbridge.runtime.session import Session

FEATURES = 64
BATCH = 64


class Training:
    """A small network whose width sets how long a step takes, fed by a DataLoader."""

    def __init__(self, width: int) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.data = TensorDataset(torch.randn(BATCH * 50, FEATURES), torch.randint(0, 10, (BATCH * 50,)))

    def run(self, steps: int) -> float:
        """Train; returns seconds of CPU time per step."""
        done, began = 0, time.process_time()
        while done < steps:
            for inputs, targets in DataLoader(self.data, batch_size=BATCH, shuffle=True):
                self.optimizer.zero_grad()
                nn.functional.cross_entropy(self.model(inputs), targets).backward()
                self.optimizer.step()
                done += 1
                if done == steps:
                    break
        return (time.process_time() - began) / steps


def calibrate(target_s: float) -> Training:
    """The training whose step takes about this long here."""
    low, high = 8, 4096
    while high - low > 8:
        width = (low + high) // 2
        training = Training(width)
        training.run(5)
        took = min(training.run(10) for _ in range(3))
        low, high = (width, high) if took < target_s else (low, width)
    return Training(low)


def compare(training: Training, steps: int, blocks: int, session: Session) -> tuple[float, float]:
    """Median seconds per step without and with hooks."""
    plain, hooked = [], []
    for _ in range(blocks):
        training.run(5)
        plain.append(training.run(steps))
        session.install()
        session.begin_cell(None, "train()")
        training.run(5)  # the weights are fingerprinted once, before the first step
        hooked.append(training.run(steps))
        session.end_cell("ok")
        session.uninstall()
    return statistics.median(plain), statistics.median(hooked)


def per_call(action: Callable[[], object], calls: int = 2000) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=30, help="pairs of blocks a step length")
    blocks = parser.parse_args().blocks
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        writer = JournalWriter(Path(folder) / "journal.jsonl", print)
        session = Session(None, writer, root=Path(folder), on_error=print)
        print(f"{'step':>8} {'plain ms':>10} {'hooks ms':>10} {'added us':>10} {'ratio':>8}")
        for target_ms, steps in ((1, 100), (10, 20)):
            plain, hooked = compare(calibrate(target_ms / 1000), steps, blocks, session)
            added = (hooked - plain) * 1e6
            times = f"{plain * 1e3:>10.3f} {hooked * 1e3:>10.3f} {added:>10.1f}"
            print(f"{target_ms:>5} ms {times} {hooked / plain:>8.4f}")
        print()
        print(f"{'batch':>10} {'us':>8}")
        for name, size in (("64 KiB", 1 << 16), ("1 MiB", 1 << 20), ("4 MiB", 1 << 22), ("256 MiB", 1 << 28)):
            batch = [torch.zeros(size // 4), torch.zeros(64, dtype=torch.int64)]
            print(f"{name:>10} {per_call(lambda batch=batch: content_hash(batch)) * 1e6:>8.1f}")
        print()
        session.install()

        def cell() -> None:
            session.begin_cell(None, "x = 1")
            session.end_cell("ok")

        cell()
        print(f"trivial cell, begin and end: {per_call(cell) * 1e6:.0f} us")
        print(f"random streams, all:         {per_call(rng_fingerprints) * 1e6:.0f} us")
        session.uninstall()
        writer.close()


if __name__ == "__main__":
    main()
