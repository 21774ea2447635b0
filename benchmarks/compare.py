"""Compare two runs of N steps: time and peak memory in a fresh process.

    python benchmarks/compare.py [STEPS]     default: 10,000,000

Three cases: equal, different in the last step, different in the first.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_clusterbridge.model.evidence import MAGIC, ROW, RowKind, loss_bits


def write(path: Path, steps: int, changed: int | None) -> None:
    """Write a batch, a loss and a step row for each step; the loss of ``changed`` differs."""
    block = 100_000
    with path.open("wb") as handle:
        handle.write(MAGIC)
        for start in range(0, steps, block):
            rows = bytearray()
            for step in range(start, min(start + block, steps)):
                loss = 1.0 / (step + 1 + (step == changed))
                rows += ROW.pack(RowKind.BATCH, 3, step, step * 7919, step * 104729)
                rows += ROW.pack(RowKind.LOSS, 3, step, loss_bits(loss), 1)
                rows += ROW.pack(RowKind.STEP, 3, step, step, 0)
            handle.write(rows)


def measure(one: Path, two: Path) -> None:
    """Compare in this process and print seconds, MiB and what was found."""
    from jupyter_clusterbridge.verdict.steps import compare_steps

    start = time.perf_counter()
    found = compare_steps(one, two)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    where = found.differences[0][1].where if found.differences else "equal"
    print(f"{seconds:8.2f} s {peak:8.0f} MiB   {where}")


def main() -> None:
    """Write the files and measure each case in a process of its own."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        write(base, steps, None)
        print(f"{steps} steps, {base.stat().st_size / 2**20:.0f} MiB a side")
        for name, changed in (("equal", None), ("last step", steps - 1), ("first step", 0)):
            other = Path(folder) / "other"
            write(other, steps, changed)
            print(f"{name:<12}", end="", flush=True)
            subprocess.run([sys.executable, __file__, "--measure", str(base), str(other)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
