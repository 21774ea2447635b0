"""What recording adds to a cell: real kernels side by side, plain, with ClusterBridge, and with ipyflow if here.

Run: python benchmarks/recorder.py [--cells 300]

The kernels get the same cells in turn, so that what else the machine does falls on all alike; the table shows
medians of the time from the request to the reply, and what they add to the plain kernel's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

CLUSTERBRIDGE = "from jupyter_clusterbridge.app.record import start_recording\nstart_recording(get_ipython());"
SETUPS = {"plain": "pass", "clusterbridge": CLUSTERBRIDGE, "ipyflow": "%load_ext ipyflow"}
TRIVIAL = ("v{i} = {i}", "v{i} + 1", "print(v{i})", "w = v{i} * 2", "def f{i}(n):\n    return n + v{i}", "f{i}(3)")
BIG = (
    "import numpy as np\narrays = None\na, b, c, d = (np.ones(12_500_000) for _ in range(4))",
    "nested = [[i] for i in range(1_000_000)]",
)
ON_BIG = ("s = a.sum()", "a[{i}] = 2.0", "n = len(nested)", "nested.append([{i}])")
LOOP = "total = 0\nfor i in range(1_000_000):\n    total += i"
WAIT_S = 300


class Kernel:
    """One real kernel and its client."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._manager = KernelManager()
        self._manager._kernel_spec = KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )
        path = folder / f"{name}.ipynb"
        quiet = {**os.environ, "JPY_SESSION_NAME": str(path), "IPYTHONDIR": str(folder / "ipython")}
        # one hash seed for all: which names of a namespace collide changes a top-level loop by a tenth
        quiet["PYTHONHASHSEED"] = "0"
        self._manager.start_kernel(cwd=str(folder), env=quiet, stderr=-3)
        self._client: Any = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=WAIT_S)
        self.run(SETUPS[name])

    def run(self, code: str) -> float:
        """Run a cell; returns the time to its reply in seconds."""
        body = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": True,
        }  # fmt: skip
        message = self._client.session.msg("execute_request", body, metadata={"cellId": f"cell-{hash(code)}"})
        start = time.perf_counter()
        self._client.shell_channel.send(message)
        while True:
            reply = self._client.get_shell_msg(timeout=WAIT_S)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                break
        spent = time.perf_counter() - start
        while self._client.iopub_channel.msg_ready():
            self._client.get_iopub_msg(timeout=1)
        if reply["content"]["status"] != "ok":
            raise SystemExit(f"{self.name}: {code!r} failed: {reply['content'].get('evalue')}")
        return spent

    def close(self) -> None:
        """End the kernel."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


def measure(
    kernels: list[Kernel],
    templates: tuple[str, ...],
    count: int,
    middle: Callable[[list[float]], float] = statistics.median,
) -> dict[str, float]:
    """Median seconds a cell by kernel, or what ``middle`` makes of them."""
    times: dict[str, list[float]] = {kernel.name: [] for kernel in kernels}
    for number in range(count):
        code = templates[number % len(templates)].format(i=number // len(templates))
        turn = number % len(kernels)
        for kernel in kernels[turn:] + kernels[:turn]:
            times[kernel.name].append(kernel.run(code))
    return {name: middle(values) for name, values in times.items()}


def show(title: str, medians: dict[str, float]) -> None:
    """One block of the table."""
    plain = medians["plain"]
    for name, median in medians.items():
        added, ratio = (median - plain) * 1e3, median / plain
        print(f"{title:<34} {name:<14} {median * 1e3:>10.2f} {added:>10.2f} {ratio:>8.2f}x")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=300, help="cells a scenario and kernel (default 300)")
    parser.add_argument("--without-ipyflow", action="store_true", help="leave ipyflow out")
    options = parser.parse_args()
    names = ["plain", "clusterbridge"]
    if importlib.util.find_spec("ipyflow") is not None and not options.without_ipyflow:
        names.append("ipyflow")
    print(f"{'scenario':<34} {'kernel':<14} {'median ms':>10} {'added ms':>10} {'ratio':>9}")
    with tempfile.TemporaryDirectory() as folder:
        kernels = [Kernel(name, Path(folder)) for name in names]
        try:
            measure(kernels, TRIVIAL, 12)
            show("trivial cell", measure(kernels, TRIVIAL, options.cells))
            show("loop of a million, top level (min)", measure(kernels, (LOOP,), 15, min))
            if importlib.util.find_spec("numpy") is not None:
                measure(kernels, BIG, len(BIG))
                show("trivial, 400 MB + million lists", measure(kernels, TRIVIAL, options.cells))
                show("cell that uses the big data", measure(kernels, ON_BIG, options.cells // 3))
        finally:
            for kernel in kernels:
                kernel.close()


if __name__ == "__main__":
    main()
