"""From journals to runs of cells, and from runs to the cells of the saved file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.model.events import (
    CellEnd,
    CellStart,
    Event,
    FileRead,
    FileWrite,
    InterventionSeen,
    KernelEnd,
    KernelStart,
    ModuleSource,
    OutsideChange,
    WidgetMoved,
)
from jupyter_clusterbridge.model.state import Intervention
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.shell_files import shell_writes
from jupyter_clusterbridge.runtime.journal import Journal


@dataclass(eq=False)
class Run:
    """One run of one cell in one kernel."""

    kernel: int
    """Number of the kernel, oldest first."""
    cell_id: str | None
    source: str
    at: str
    rng_before: dict[str, str]
    rng_after: dict[str, str] = field(default_factory=dict)
    status: str = "open"
    """``ok``, ``error``, ``interrupted``, ``exit``; ``open`` while no end is recorded."""
    error: str | None = None
    duration_s: float = 0.0
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    found: dict[str, str] = field(default_factory=dict)
    """Digests of files as the run found them."""
    values: dict[str, str] = field(default_factory=dict)
    """Texts that are equal for equal values, of what it wrote."""
    sources: dict[str, str] = field(default_factory=dict)
    """Digests of modules' sources that lay on disk after it, where they were others than before."""
    seen: list[Intervention] = field(default_factory=list)
    cell: int | None = None
    """Position among the code cells of the saved file; None when it is not there."""
    piece: int | None = None
    """Number of the piece of the saved file that it ran."""
    untracked: set[str] = field(default_factory=set)
    """Locations that were too costly to follow."""
    outside: dict[str, str] = field(default_factory=dict)
    """Locations that changed before it began while no cell ran, with what is known of who changed them."""

    @property
    def key(self) -> str:
        """Equal for equal code in other formatting."""
        return analyse_cell(self.source).key

    @property
    def complete(self) -> bool:
        """Whether it ran to its end."""
        return self.status == "ok"

    def forget(self, location: str) -> None:
        """A location was changed by other code than the cell's, while the cell ran."""
        if location not in self.mutates:
            self.writes.discard(location)

    def shifted_streams(self) -> set[str]:
        """Random streams that stood elsewhere after the run than before."""
        after = self.rng_after
        return {name for name, state in self.rng_before.items() if name in after and after[name] != state}


@dataclass
class Kernel:
    """All runs in one kernel process."""

    id: str
    at: str
    runs: list[Run] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    """Ids of cells that the front end reported as deleted."""
    noted: list[tuple[Run | None, Event]] = field(default_factory=list)
    """Every other event with the run that it came in or after; None before the first."""
    journal: Path | None = None
    """The newest journal of the process."""
    start: KernelStart | None = None
    ended: bool = False
    """Whether the kernel shut down in order, or the extension was unloaded."""


def read_kernels(journals: Iterable[Journal]) -> list[Kernel]:
    """Kernels of the notebook side with at least one run, oldest first; journals of one process are joined."""
    kernels: dict[str, Kernel] = {}
    for journal in sorted(journals, key=lambda journal: journal.start.at):
        if journal.start.role != "notebook":
            continue
        kernel = kernels.setdefault(journal.start.kernel_id, Kernel(journal.start.kernel_id, journal.start.at))
        _add_runs(kernel, journal)
    found = [kernel for kernel in kernels.values() if kernel.runs]
    for number, kernel in enumerate(found):
        for run in kernel.runs:
            run.kernel = number
    return found


def _add_runs(kernel: Kernel, journal: Journal) -> None:
    by_number: dict[int, Run] = {}
    outside: dict[str, str] = {}
    before = newest = kernel.runs[-1] if kernel.runs else None
    kernel.journal, kernel.start, kernel.ended = journal.path, kernel.start or journal.start, False
    for event in journal.events:
        if isinstance(event, CellStart):
            run = Run(0, event.cell_id, event.source, event.at, dict(event.rng))
            if not by_number and before is not None and _is_one_run(before, run):
                _go_on(before, run)
                kernel.runs.pop()
                kernel.noted = [(run if one is before else one, other) for one, other in kernel.noted]
            run.outside, outside = outside, {}
            by_number[event.run] = newest = run
            kernel.runs.append(run)
            kernel.deleted.update(event.deleted_cells)
        elif isinstance(event, (CellEnd, FileRead, FileWrite, InterventionSeen)) and event.run in by_number:
            _add_event(by_number[event.run], event)
        elif isinstance(event, KernelEnd):
            kernel.ended = True
        elif isinstance(event, OutsideChange) and event.by != "cell":
            outside.setdefault(event.location, event.by)
            if event.run in by_number and event.location.startswith("name:"):
                by_number[event.run].forget(event.location)
        elif isinstance(event, WidgetMoved):
            outside.update({f"name:{name}": "widget" for name in (*event.names, *event.writes)})
        if not isinstance(event, (KernelStart, KernelEnd, CellStart, CellEnd, InterventionSeen)):
            kernel.noted.append((newest, event))
    _add_sources(journal, by_number)


def _add_sources(journal: Journal, by_number: Mapping[int, Run]) -> None:
    """Which source of each module the runs found in memory: what a run reloads is what it works with."""
    noted: dict[int, list[ModuleSource]] = {}
    for event in journal.events:
        if isinstance(event, ModuleSource):
            noted.setdefault(event.run, []).append(event)
    loaded: dict[str, str] = {}
    for number, run in sorted(by_number.items()):
        for source in noted.get(number, ()):
            location = f"module:{source.module}"
            run.sources[location] = source.digest
            if source.how != "changed":
                loaded[location] = source.digest
        run.found.update({location: loaded[location] for location in run.reads & loaded.keys()})


def _is_one_run(before: Run, run: Run) -> bool:
    return (before.cell_id, before.source) == (run.cell_id, run.source)


def _go_on(first: Run, run: Run) -> None:
    """A cell that reloads the extension is begun in one journal and ended in the next: one run."""
    run.at, run.rng_before, run.seen = first.at, first.rng_before, list(first.seen)
    run.reads, run.writes, run.mutates = set(first.reads), set(first.writes), set(first.mutates)


def _add_event(run: Run, event: CellEnd | FileRead | FileWrite | InterventionSeen) -> None:
    if isinstance(event, InterventionSeen):
        run.seen.append(event.intervention)
    elif isinstance(event, FileRead):
        if f"file:{event.path}" not in run.writes:
            run.reads.add(f"file:{event.path}")
            if event.digest is not None:
                run.found[f"file:{event.path}"] = event.digest
    elif isinstance(event, FileWrite):
        _add_write(run, f"file:{event.path}", event)
    else:
        run.status, run.error, run.duration_s = event.status, event.error, event.duration_s
        run.rng_after = dict(event.rng)
        run.reads.update(event.reads)
        run.writes.update(event.writes)
        run.mutates.update(event.mutates)
        run.untracked.update(event.untracked)
        run.values.update(event.values)
        _add_shell(run)


def _add_shell(run: Run) -> None:
    """What other processes wrote shows only in the text of the command."""
    for path, appends in shell_writes(run.source).items():
        location = f"file:{path}"
        if location in run.writes:
            continue
        run.writes.add(location)
        if appends:
            run.reads.add(location)
            run.mutates.add(location)


def _add_write(run: Run, location: str, event: FileWrite) -> None:
    run.writes.add(location)
    if event.digest is not None:
        run.values[location] = event.digest
    changed = location in run.reads and event.digest != run.found.get(location)
    if event.appends or changed:
        run.mutates.add(location)
