"""Two histories of one notebook side by side: what the kernels did, and what a clean run would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_clusterbridge.model.notebook import MAY_RAISE_TAG, Cell
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.pieces import Piece
from jupyter_clusterbridge.recorder.provenance import (
    Access,
    apply,
    reset_streams,
    run_access,
    static_access,
)
from jupyter_clusterbridge.recorder.runs import Kernel, Run
from jupyter_clusterbridge.recorder.shows import only_shows
from jupyter_clusterbridge.recorder.versions import State, Values, Version, base_of, by_content, digest, is_chance

_BACKGROUND = ("thread", "task")


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
    untracked: set[str] = field(default_factory=set)
    """What it read or touched and nobody could follow."""
    edited: bool = False
    """Whether its text is another one than what ran last."""
    made: set[str] = field(default_factory=set)
    """What its pieces so far made anew."""


class Replay:
    """Lets the kernels' runs and a clean run act on terms, and compares what each cell's last run found.

    Args:
        cells: code cells of the saved file.
        pieces: what they consist of.
        kernels: kernels with their runs, matched to the cells.
    """

    def __init__(self, cells: Sequence[Cell], pieces: Sequence[Piece], kernels: Sequence[Kernel]) -> None:
        self.pieces = pieces
        self._count = len(cells)
        self._may_raise = {position for position, cell in enumerate(cells) if MAY_RAISE_TAG in cell.tags}
        self._failing: dict[int, Run] = {}
        self._by_key: dict[str, list[Run]] = {}
        for kernel in kernels:
            for run in kernel.runs:
                if run.complete:
                    self._by_key.setdefault(run.key, []).append(run)
        self._resets = {key: reset_streams(runs) for key, runs in self._by_key.items()}
        self._values = Values()
        self._known = frozenset(
            location
            for kernel in kernels
            for run in kernel.runs
            for location in (*run.reads, *run.writes)
            if base_of(location) is not None
        )
        self._outside: dict[str, str] = {}
        self._background = {
            location for run in _all_runs(kernels) for location, by in run.outside.items() if by in _BACKGROUND
        }
        # once to learn which terms stand for equal values and what came from outside, once to compare
        for _ in range(2):
            self._replay(kernels, set())
        astray = {one.position for one in self.histories if one.mismatches or one.missing}
        if astray & {run.cell for run in self._failing.values()}:
            self._replay(kernels, astray)  # with other inputs these may come further

    def _replay(self, kernels: Sequence[Kernel], astray: set[int]) -> None:
        self.histories: list[CellHistory] = [CellHistory(position) for position in range(self._count)]
        self._last: dict[int, Run] = {}
        self._modules: list[set[str]] = []
        self._find_last(kernels)
        self._find_failing(astray)
        self.expected = self._clean_run()
        self.final = self._empty()
        """What the newest kernel holds."""
        for kernel in kernels:
            self.final = self._kernel_run(kernel)

    def outside(self) -> dict[str, Version]:
        """What lies outside the notebook and was found there last."""
        return {location: outside_version(location, value) for location, value in self._outside.items()}

    def _empty(self) -> State:
        return State(self._values, self._known)

    def _find_last(self, kernels: Sequence[Kernel]) -> None:
        for kernel in kernels:
            for run in kernel.runs:
                if run.cell is not None:
                    self.histories[run.cell].last = run
                if run.piece is not None:
                    self._last[run.piece] = run
        for history in self.histories:
            last = history.last
            history.edited = last is not None and (
                last.piece is None
                or last.key != self.pieces[last.piece].key
                or not self._all_ran(history.position)
            )

    def _find_failing(self, astray: set[int]) -> None:
        """Pieces that fail in a clean run too, and how far they come in it: the run goes on after them."""
        self._failing = {
            number: run
            for number, run in self._last.items()
            if run.status == "error"
            and run.cell in self._may_raise - astray
            and run.key == self.pieces[number].key
            and run.key not in self._by_key
        }

    def _all_ran(self, position: int) -> bool:
        return all(number in self._last for number, piece in enumerate(self.pieces) if piece.cell == position)

    def _clean_run(self) -> list[State]:
        """What each piece would find."""
        state = self._empty()
        for location, version in self.outside().items():
            state.put(location, version)
        modules: set[str] = set()
        found: list[State] = []
        for number, piece in enumerate(self.pieces):
            modules |= analyse_cell(piece.source).total.imports
            self._modules.append(set(modules))
            found.append(state.copy())
            self.run_clean(number, state)
        return found

    def run_clean(self, number: int, state: State) -> None:
        """Let a piece act on a state as it does in a clean run."""
        piece = self.pieces[number]
        names = analyse_cell(piece.source)
        failing = number in self._failing
        apply(state, names, self.usual_access(number, state), piece.cell, None, partial=failing)
        if names.total.joins:
            for location in self._background & state.versions.keys():
                state.put(location, _settled(location, state, piece.cell, None))

    def usual_access(self, number: int, state: State) -> Access:
        """What a piece does in any of its whole runs; what its text says when it had none."""
        piece = self.pieces[number]
        runs = self._by_key.get(piece.key)
        if number in self._failing:
            return run_access(self._failing[number], set(), state)
        if not runs:
            return static_access(analyse_cell(piece.source), self._modules[number], state.roots)
        out = Access()
        for run in runs:
            access = run_access(run, self._resets[piece.key], state)
            out.reads |= access.reads
            out.writes |= access.writes
            out.mutates |= access.mutates
        return out

    def _kernel_run(self, kernel: Kernel) -> State:
        state = self._empty()
        lost: set[str] = set()
        for run in kernel.runs:
            own = run_access(run, self._resets.get(run.key, set()), state)
            expected = self.expected[run.piece] if run.piece is not None else self._empty()
            for location in own.reads & expected.versions.keys() - state.versions.keys():
                found = expected.versions[location]
                if not found.outside and state.find(location) is None:
                    # nobody recorded who made it: before recording began, or out of our sight
                    state.put(location, found)
            self._find_outside(state, run)
            for location, by in run.outside.items():
                state.drop_parts(location)
                state.put(location, _beside(location, run, by, state.find(location)))
            looked = self._look_through(state, run, own)
            if run.complete:
                lost -= own.writes - own.mutates
            lost |= run.untracked - own.writes
            if run.piece is not None and self._last[run.piece] is run:
                self._compare(state, run, own, looked)
                self.histories[self.pieces[run.piece].cell].untracked |= lost & (own.reads | run.untracked)
            self._act(state, run, own, looked)
        return state

    def _find_outside(self, state: State, run: Run) -> None:
        """Content that the run found and that nothing in this kernel had made."""
        for location, value in run.found.items():
            now = state.versions.get(location)
            if now is None or now.outside or (now.value is not None and now.value != value):
                state.put(location, outside_version(location, value))
                if not location.startswith("module:"):
                    self._outside[location] = value
        self._outside.update(run.sources)  # a clean run imports what lies on disk

    def _look_through(self, state: State, run: Run, access: Access) -> dict[str, Version | None]:
        """Locations that the same cell made before and does not accumulate: it finds what it found at first."""
        looked: dict[str, Version | None] = {}
        found = {one: version for one in state.whole(access.reads) if (version := state.find(one)) is not None}
        makers = {version.run for version in found.values() if _made_by_the_same(version, run)}
        # where another cell has overwritten a part of what an earlier run made, this run is no mere repetition
        whole = {
            made
            for made in makers
            if made is not None
            and all(found[loc].run is made for loc in made.writes & access.reads & found.keys())
        }
        grown = access.mutates | {base for one in access.mutates if (base := base_of(one)) is not None}
        for location in found.keys() - grown:
            step: Version | None = found[location]
            while step is not None and _made_by_the_same(step, run) and (found[location].run in whole):
                looked.update(step.parts)
                step = looked[location] = step.base
            base = base_of(location)
            if step is None and base is not None and found[location] is state.versions.get(base):
                looked[base] = None  # the part is there by the whole alone
        return looked

    def _compare(self, state: State, run: Run, access: Access, looked: dict[str, Version | None]) -> None:
        assert run.cell is not None
        assert run.piece is not None
        history = self.histories[run.cell]
        history.mutates |= {one for one in access.mutates if not one.startswith("rng:")} - history.made
        history.made |= access.writes - access.mutates
        clean = self.expected[run.piece]
        before = state.copy()
        _put_back(before, looked)
        differing: dict[str, Mismatch] = {}
        for location in sorted(before.whole(access.reads) | clean.whole(access.reads)):
            actual, expected = before.find(location), clean.find(location)
            if is_chance(location, actual) and is_chance(location, expected):
                continue  # in a clean run too
            if actual is not None and _is_no_matter(location, actual, run):
                continue
            if actual is not None and (expected is None or expected.term != actual.term):
                place = (
                    base_of(location) if location.startswith("column:") and location.endswith(".index") else None
                )
                shown = place if place is not None and location not in before.versions else location
                differing.setdefault(shown, Mismatch(shown, actual, expected))
        history.mismatches += [one for _, one in sorted(differing.items()) if not _follows(one, differing)]
        if run.status == "error":
            wanted = {f"name:{name}" for name in analyse_cell(run.source).total.reads}
            there = access.reads | access.writes | {base_of(one) for one in access.reads}
            for location in sorted(wanted & clean.versions.keys() - there):
                history.missing[location] = clean.versions[location]

    def _act(self, state: State, run: Run, own: Access, looked: dict[str, Version | None]) -> None:
        usual = {name for other in self._by_key.get(run.key, ()) for name in other.reads}
        kept = {location: state.versions[location] for location in looked if location in state.versions}
        _put_back(state, looked)
        access = Access(own.reads | usual, own.writes, own.mutates, own.values)
        apply(state, analyse_cell(run.source), access, run.cell, run, partial=not run.complete)
        if run.complete and analyse_cell(run.source).total.joins:
            waited = [one for one, version in state.versions.items() if version.beside in _BACKGROUND]
            for location in waited:
                state.put(location, _settled(location, state, run.cell, run))
        for location in looked:
            if location in own.writes or base_of(location) in own.writes:
                continue
            if location in kept:
                state.put(location, kept[location])
            else:
                state.remove(location)


def outside_version(location: str, value: str) -> Version:
    """What was found with this content and made by nothing in the notebook."""
    return Version(by_content(location, value), None, None, None, value=value, outside=True)


def _all_runs(kernels: Sequence[Kernel]) -> list[Run]:
    return [run for kernel in kernels for run in kernel.runs]


def _beside(location: str, run: Run, by: str, base: Version | None) -> Version:
    """What was found changed when a run began, and changed by no cell."""
    return Version(digest(location, "beside", str(run.kernel), run.at), None, None, base, beside=by)


def _settled(location: str, state: State, cell: int | None, run: Run | None) -> Version:
    """What the notebook's own threads and tasks leave, from where a cell has waited for them."""
    return Version(digest(location, "settled"), cell, run, state.find(location))


def _is_no_matter(location: str, actual: Version, run: Run) -> bool:
    """Whether a cell that finds what no cell made does no more than wait for it, or show it."""
    if actual.beside in _BACKGROUND:
        return analyse_cell(run.source).total.joins
    return actual.beside == "widget" and only_shows(run.source, {location.partition(":")[2]})


def _put_back(state: State, looked: dict[str, Version | None]) -> None:
    for location, version in looked.items():
        if version is None:
            state.remove(location)
        else:
            state.put(location, version)


def _is_rows(location: str) -> bool:
    return location.startswith("column:") and location.endswith(".index")


def _follows(one: Mismatch, differing: dict[str, Mismatch]) -> bool:
    """Whether a part differs only because the whole does."""
    whole = differing.get(base_of(one.location) or "")
    return whole is not None and one.actual is whole.actual


def _made_by_the_same(version: Version, run: Run) -> bool:
    made = version.run
    return (
        made is not None
        and made.complete
        and made.cell == run.cell
        and run.cell is not None
        and made.key == run.key
    )
