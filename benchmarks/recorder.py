"""What recording adds to a cell: real kernels side by side, plain, with ClusterBridge, ipyflow and FlowBook.

Run: python benchmarks/recorder.py [--tool ipyflow=PYTHON] [--tool flowbook=PYTHON] [--cells 300] [--write]

Each other tool runs in the environment of the interpreter that is given for it, beside a plain kernel of the same
environment, which is what its added time is counted from. The kernels get the same cells in turn, so that what
else the machine does falls on all alike. ``--write`` writes the tables to docs/recorder-benchmark.md.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from kernels import CLUSTERBRIDGE, IPYKERNEL, OTHERS, Kernel, Tool, version_of
from recorder_day import Day, measure_day

DOCS = Path(__file__).resolve().parent.parent / "docs" / "recorder-benchmark.md"
Middle = Callable[[list[float]], float]
TRIVIAL = (
    "v{i} = {i}", "v{i} + 1", "print(v{i})", "w{i} = v{i} * 2", "def f{i}(n):\n    return n + v{i}", "f{i}(3)",
)  # fmt: skip
ARRAYS = "import numpy as np\na, b, c, d = (np.ones(12_500_000) for _ in range(4))"
NESTED = "nested = [[i] for i in range(1_000_000)]"
ON_ARRAYS = ("a[{i}] = 2.0", "s = a.sum()")
ON_NESTED = ("nested.append([{i}])", "n = len(nested)")
LOOP = "total = 0\nfor i in range(1_000_000):\n    total += i"
FRAME = (
    "import numpy as np, pandas as pd\nrng = np.random.default_rng(0)\n"
    "df = pd.DataFrame({'k': rng.integers(0, 1000, 1_000_000), 'x': rng.random(1_000_000)})"
)
GROUPBY = "g{i} = df.groupby('k')['x'].mean()"
APPLY = "p{i} = df['x'].apply(lambda x: x * 2 + 1)"
DROP = "df = None"
STORE = "df['y'] = df['x'] * {i}"


@dataclass(frozen=True)
class Scenario:
    """A row of the table: the same cells for every kernel."""

    title: str
    goal: str
    cells: tuple[str, ...]
    count: int
    before: tuple[str, ...] = ()
    middle: Middle = statistics.median
    start: int = 0
    """First number that is put in place of ``{i}``."""


def scenarios(cells: int) -> list[Scenario]:
    """All rows in the order in which they are measured."""
    big = cells // 3
    return [
        Scenario("trivial cell", "<= 2 ms", TRIVIAL, cells),
        Scenario("loop of a million, top level (fastest)", "<= 1.02x", (LOOP,), 15, middle=min),
        Scenario("groupby on 10**6 rows", "", (GROUPBY,), 15, (FRAME,)),
        Scenario("apply on 10**6 rows", "", (APPLY,), 9),
        Scenario("new column on 10**6 rows", "", (STORE,), 15),
        Scenario("trivial, 400 MB of arrays alive", "<= 5 ms", TRIVIAL, big, (DROP, ARRAYS), start=1000),
        Scenario("cell that uses 400 MB of arrays", "", ON_ARRAYS, big),
        Scenario("trivial, 10**6 nested lists alive too", "<= 5 ms", TRIVIAL, big, (NESTED,), start=2000),
        Scenario("cell that uses 10**6 nested lists", "", ON_NESTED, big),
    ]


@dataclass
class Times:
    """What the cells of a row took in one kernel, in seconds."""

    waited: list[float]
    processor: float
    """Processor time of the kernel a cell."""


def measure(kernels: Sequence[Kernel], scenario: Scenario, limit_s: float) -> list[Times]:
    """What each kernel took; one that has used up its time gets no more cells of this row."""
    for code in scenario.before:
        for kernel in kernels:
            kernel.run(code)
    began = [kernel.processor_s for kernel in kernels]
    times: dict[int, list[float]] = {number: [] for number in range(len(kernels))}
    ran = [0] * len(kernels)
    for cell in range(scenario.count):
        templates = scenario.cells
        code = templates[cell % len(templates)].format(i=scenario.start + cell // len(templates))
        turn = cell % len(kernels)
        for number in [*range(turn, len(kernels)), *range(turn)]:
            if sum(times[number]) > limit_s and len(times[number]) >= 3:
                continue
            spent = kernels[number].run(code)
            ran[number] += 1
            if spent is not None:
                times[number].append(spent)
    return [
        Times(times[number], (kernel.processor_s - began[number]) / max(ran[number], 1))
        for number, kernel in enumerate(kernels)
    ]


def rows(scenario: Scenario, kernels: Sequence[Kernel], times: Sequence[Times]) -> list[str]:
    """One line of Markdown for each tool, against the plain kernel of its environment."""
    plain = {kernel.python: one for kernel, one in zip(kernels, times, strict=True) if kernel.tool is None}
    found = []
    for kernel, one in zip(kernels, times, strict=True):
        if kernel.tool is None:
            continue
        base = scenario.middle(plain[kernel.python].waited)
        cells = f"| {scenario.title} | {kernel.name} | {base * 1e3:.2f} "
        if not one.waited:
            found.append(f"{cells}| refused | | | | | |")
            continue
        took = scenario.middle(one.waited)
        own, plain_own = one.processor, plain[kernel.python].processor
        goal = scenario.goal if kernel.tool is CLUSTERBRIDGE else ""
        waited = f"{took * 1e3:.2f} | {(took - base) * 1e3:+.2f} | {took / base:.2f}x"
        processor = f"{(own - plain_own) * 1e3:+.2f} | {own / plain_own:.2f}x"
        found.append(f"{cells}| {waited} | {processor} | {goal} |")
    return found


def memory(kernels: Sequence[Kernel], at: str) -> list[str]:
    """Resident memory beyond the plain kernel's."""
    for kernel in kernels:
        kernel.run("import gc; gc.collect();")
    plain = {kernel.python: kernel.resident for kernel in kernels if kernel.tool is None}
    return [
        f"| {at} | {kernel.name} | {(kernel.resident - plain[kernel.python]) / 1e6:+.1f} MB |"
        for kernel in kernels
        if kernel.tool is not None
    ]


def traced(folder: Path) -> float:
    """Bytes that our own code holds by tracemalloc, with all the data alive and after cells that used it."""
    kernel = Kernel(None, sys.executable, folder)
    try:
        kernel.run("import tracemalloc; tracemalloc.start(1)")
        kernel.run(CLUSTERBRIDGE.setup)
        for code in (ARRAYS, NESTED, FRAME):
            kernel.run(code)
        for i in range(20):
            for template in (*ON_ARRAYS, *ON_NESTED, STORE, *TRIVIAL):
                kernel.run(template.format(i=i))
        answer = kernel.evaluate(
            "import gc, pathlib; gc.collect(); snap = tracemalloc.take_snapshot().filter_traces("
            "[tracemalloc.Filter(True, '*jupyter_clusterbridge*')])\n"
            "_ = pathlib.Path('answer.txt').write_text(str(sum(t.size for t in snap.traces)))"
        )
    finally:
        kernel.close()
    return float(answer)


def start(tools: dict[str, str], folder: Path) -> tuple[list[Kernel], list[str]]:
    """Start a kernel for each tool and a plain one for each environment; what could not be run, in words."""
    kernels = [Kernel(None, sys.executable, folder), Kernel(CLUSTERBRIDGE, sys.executable, folder)]
    said = []
    for name, python in tools.items():
        tool = OTHERS[name]
        version = version_of(python, tool.distribution)
        if version is None:
            said.append(
                f"{tool.name} was not measured: {tool.distribution} is not in the environment given for it."
            )
            continue
        if python not in {kernel.python for kernel in kernels}:
            kernels.append(Kernel(None, python, folder))
        kernels.append(Kernel(tool, python, folder))
        said.append(f"{tool.name}: {tool.distribution} {version}, {_how(tool)}.")
    said += [f"{OTHERS[name].name} was not measured: no `--tool {name}=PYTHON`." for name in OTHERS.keys() - tools]
    return kernels, said


def _how(tool: Tool) -> str:
    return f"with `{tool.setup}`" if tool.module == IPYKERNEL else f"as its own kernel, `python -m {tool.module}`"


def report(tools: dict[str, str], cells: int, limit_s: float) -> str:
    """Measure everything; returns the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels, said = start(tools, folder)
        table: list[str] = []
        held: list[str] = memory(kernels, "nothing but the tool loaded")
        try:
            for kernel in kernels:
                for number in range(12):
                    kernel.run(f"warm{number} = {number}")
            for scenario in scenarios(cells):
                found = rows(scenario, kernels, measure(kernels, scenario, limit_s))
                print("\n".join(found), flush=True)
                table += found
                if NESTED in scenario.before:
                    held += memory(kernels, "400 MB of arrays and a million nested lists alive")
        finally:
            for kernel in kernels:
                kernel.close()
        said += [
            f"{kernel.name} refused or failed {kernel.refused.count} cells; the first: `{kernel.refused.said[0]}`."
            for kernel in kernels
            if kernel.refused.count
        ]
        return page(table, held, traced(folder), measure_day(folder), said)


def page(table: list[str], held: list[str], own: float, day: Day, said: list[str]) -> str:
    """The page in Markdown."""
    versions = ", ".join(
        f"{name} {version_of(sys.executable, name)}" for name in ("ipykernel", "ipython", "numpy", "pandas")
    )
    lines = [
        "# What recording costs", "",
        "Written by `python benchmarks/recorder.py --write`; do not edit by hand.", "",
        f"Python {platform.python_version()} on {platform.system()}, {psutil.cpu_count()} CPUs, load "
        f"{psutil.getloadavg()[0]:.1f}; {versions}.", *said, "",
        "Time from the request to the reply, medians unless the row says otherwise. \"plain\" is the kernel of",
        "the same environment without the tool; added time and ratio are against it, from this one run. CPU is",
        "the kernel's own processor time, a mean over the cells, which a busy machine changes least.", "",
        "| cells | kernel | plain ms | ms | added ms | ratio | added CPU ms | CPU ratio | goal |",
        "|---|---|---|---|---|---|---|---|---|",
        *table, "",
        "## Memory", "",
        "Resident memory of the kernel's process beyond the plain one's. The goal for what the recorder holds is",
        f"under 50 MB; by tracemalloc the blocks that our own files hold are {own / 1e6:.2f} MB at the end.", "",
        "| when | kernel | added |", "|---|---|---|", *held, "",
        "## Journal", "",
        f"A day of {day.runs} cell runs ({day.cells} cells, {day.edits} edits) leaves a journal of "
        f"{day.journal / 1e6:.2f} MB,", f"{day.journal / day.runs:.0f} bytes a run; the goal is under 5 MB.", "",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=300, help="cells a scenario and kernel (default 300)")
    parser.add_argument("--limit", type=float, default=20, help="seconds a scenario and kernel (default 20)")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=PYTHON", help=", ".join(OTHERS))
    parser.add_argument("--write", action="store_true", help=f"write {DOCS.name}")
    options = parser.parse_args()
    tools = dict(given.split("=", 1) for given in options.tool)
    unknown = tools.keys() - OTHERS.keys()
    if unknown:
        parser.error(f"unknown tool: {', '.join(sorted(unknown))}")
    text = report(tools, options.cells, options.limit)
    print(text)
    if options.write:
        DOCS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
