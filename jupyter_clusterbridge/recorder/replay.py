"""Two histories of one notebook side by side: what the kernels did, and what a clean run would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.provenance import (
    Access,
    State,
    Version,
    apply,
    reset_streams,
    run_access,
    static_access,
)
from jupyter_clusterbridge.recorder.runs import Kernel, Run


@dataclass(frozen=True)
class Mismatch:
    """A location that a cell's last run found in another state than a clean run would."""

    location: str
    actual: Version
    expected: Version | None
    """None when a clean run would not have it at all."""


@dataclass
class CellHistory:
    """What became of one cell of the saved file."""

    position: int
    last: Run | None = None
    mismatches: list[Mismatch] = field(default_factory=list)
    mutates: set[str] = field(default_factory=set)
    """What its last run accumulated."""
    missing: dict[str, Version] = field(default_factory=dict)
    """What its last run failed without and a clean run gives it."""


class Replay:
    """Lets the kernels' runs and a clean run act on terms, and compares what each cell's last run found.

    Args:
        cells: code cells of the saved file.
        kernels: kernels with their runs, matched to the cells.
    """

    def __init__(self, cells: Sequence[Cell], kernels: Sequence[Kernel]) -> None:
        self._cells = cells
        self._by_key: dict[str, list[Run]] = {}
        for kernel in kernels:
            for run in kernel.runs:
                if run.complete:
                    self._by_key.setdefault(run.key, []).append(run)
        self._resets = {key: reset_streams(runs) for key, runs in self._by_key.items()}
        self.histories = [CellHistory(position) for position in range(len(cells))]
        for kernel in kernels:
            for run in kernel.runs:
                if run.cell is not None:
                    self.histories[run.cell].last = run
        self.expected = self._clean_run()
        for kernel in kernels:
            self._kernel_run(kernel)

    def _clean_run(self) -> list[dict[str, Version]]:
        """What each cell would find, by location."""
        state = State()
        modules: set[str] = set()
        found: list[dict[str, Version]] = []
        for position, cell in enumerate(self._cells):
            names = analyse_cell(cell.source)
            modules |= names.total.imports
            found.append(dict(state.versions))
            apply(state, names, self._usual_access(names.key, cell, modules, state), position, None)
        return found

    def _usual_access(self, key: str, cell: Cell, modules: set[str], state: State) -> Access:
        """What a cell does in any of its whole runs; what its text says when it had none."""
        runs = self._by_key.get(key)
        if not runs:
            return static_access(analyse_cell(cell.source), modules)
        out = Access()
        for run in runs:
            access = run_access(run, self._resets[key], state)
            out.reads |= access.reads
            out.writes |= access.writes
            out.mutates |= access.mutates
        return out

    def _kernel_run(self, kernel: Kernel) -> None:
        state = State()
        for run in kernel.runs:
            own = run_access(run, self._resets.get(run.key, set()), state)
            expected = self.expected[run.cell] if run.cell is not None else {}
            for location in own.reads & expected.keys():
                # nobody recorded who made it: before recording began, or out of our sight
                state.versions.setdefault(location, expected[location])
            looked = self._look_through(state, run, own)
            if run.cell is not None and self.histories[run.cell].last is run:
                self._compare(state, run, own, looked)
            self._act(state, run, own, looked)

    def _look_through(self, state: State, run: Run, access: Access) -> dict[str, Version | None]:
        """Locations that the same cell made before and does not accumulate: it finds what it found at first."""
        looked: dict[str, Version | None] = {}
        found = {location: state.versions[location] for location in access.reads & state.versions.keys()}
        makers = {version.run for version in found.values() if _made_by_the_same(version, run)}
        # where another cell has overwritten a part of what an earlier run made, this run is no mere repetition
        whole = {
            made
            for made in makers
            if made is not None
            and all(found[loc].run is made for loc in made.writes & access.reads & found.keys())
        }
        for location in found.keys() - access.mutates:
            version: Version | None = found[location]
            while version is not None and _made_by_the_same(version, run) and (found[location].run in whole):
                version = looked[location] = version.base
        return looked

    def _compare(self, state: State, run: Run, access: Access, looked: dict[str, Version | None]) -> None:
        assert run.cell is not None
        history = self.histories[run.cell]
        history.mutates = {location for location in access.mutates if not location.startswith("rng:")}
        for location in sorted(access.reads):
            actual = looked[location] if location in looked else state.versions.get(location)
            expected = self.expected[run.cell].get(location)
            if actual is not None and (expected is None or expected.term != actual.term):
                history.mismatches.append(Mismatch(location, actual, expected))
        if run.status == "error":
            wanted = {f"name:{name}" for name in analyse_cell(run.source).total.reads}
            for location in sorted(wanted & self.expected[run.cell].keys() - access.reads - access.writes):
                history.missing[location] = self.expected[run.cell][location]

    def _act(self, state: State, run: Run, own: Access, looked: dict[str, Version | None]) -> None:
        usual = {name for other in self._by_key.get(run.key, ()) for name in other.reads}
        kept = {location: state.versions[location] for location in looked}
        for location, version in looked.items():
            if version is None:
                del state.versions[location]
            else:
                state.versions[location] = version
        apply(state, analyse_cell(run.source), Access(own.reads | usual, own.writes, own.mutates), run.cell, run)
        for location, version in kept.items():
            if location not in own.writes:
                state.versions[location] = version


def _made_by_the_same(version: Version, run: Run) -> bool:
    made = version.run
    return (
        made is not None
        and made.complete
        and made.cell == run.cell
        and run.cell is not None
        and made.key == run.key
    )
