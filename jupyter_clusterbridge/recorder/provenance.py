"""Where each value came from: a term for each location, equal when a clean run would give it the same way.

A term is a digest over the statement that made the value and the terms of what that statement read. Two values
with one term were made by the same code from the same beginnings, whatever the order of the cells in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.effects import Effects
from jupyter_clusterbridge.recorder.names import CellNames, analyse_cell
from jupyter_clusterbridge.recorder.runs import Run

_COMPOUND = ("For(", "AsyncFor(", "While(", "With(", "AsyncWith(", "Try(", "TryStar(", "If(", "Match(")


@dataclass(frozen=True)
class Version:
    """A value of one location."""

    term: str
    cell: int | None
    """Position of the cell that made it; None when that cell is not in the file."""
    run: Run | None
    """The run that made it; None in the clean run that is only thought of."""
    base: Version | None
    """What the location held before that cell ran."""
    accumulated: bool = False
    """Whether it came out of ``base``."""


@dataclass
class Access:
    """What a cell reads, writes and accumulates, as locations."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)


@dataclass
class State:
    """A namespace of terms."""

    versions: dict[str, Version] = field(default_factory=dict)
    functions: dict[str, Effects] = field(default_factory=dict)

    def terms(self, locations: Iterable[str]) -> list[str]:
        """Locations with their terms; those that nothing is known of are left out."""
        return [f"{name}={self.versions[name].term}" for name in sorted(locations) if name in self.versions]

    def through_functions(self, names: Iterable[str]) -> set[str]:
        """Names with all that functions of the notebook among them read when they are called."""
        seen: set[str] = set()
        queue = list(names)
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue.extend(self.functions[name].reads if name in self.functions else ())
        return seen

    def seeds(self, effects: Effects) -> set[str]:
        """Random streams that are set anew, also by functions of the notebook."""
        called = self.through_functions(effects.reads) & self.functions.keys()
        return effects.seeds.union(*(self.functions[name].seeds for name in called))


def static_access(names: CellNames, modules: set[str]) -> Access:
    """What the syntax tree alone tells, for a cell that never ran to its end."""
    total = names.total
    changed = (total.stores | names.rebinds) - modules
    return Access(
        reads={f"name:{name}" for name in total.reads} | {f"env:{name}" for name in total.env_reads},
        writes={f"name:{name}" for name in total.binds | changed}
        | {f"env:{name}" for name in total.env_writes}
        | {f"rng:{name}" for name in total.seeds},
        mutates={f"name:{name}" for name in changed - total.fits},
    )


def run_access(run: Run, resets: set[str], state: State) -> Access:
    """What a run did, the random streams among it.

    Args:
        run: the run.
        resets: streams that its code was seen to set anew.
        state: the state before the run, which knows the functions.
    """
    seeds = state.seeds(analyse_cell(run.source).total) & run.rng_after.keys()
    shifted = run.shifted_streams()
    drawn = {f"rng:{name}" for name in shifted - seeds - resets}
    return Access(
        reads=run.reads | drawn,
        writes=run.writes | {f"rng:{name}" for name in shifted | seeds},
        mutates=run.mutates | drawn,
    )


def reset_streams(runs: Sequence[Run]) -> set[str]:
    """Streams that stand at the same place after every run of one source, from wherever they came."""
    found: set[str] = set()
    for stream in {name for run in runs for name in run.rng_before}:
        pairs = [(run.rng_before.get(stream), run.rng_after.get(stream)) for run in runs]
        befores, afters = {before for before, _ in pairs}, {after for _, after in pairs}
        if len(befores) > 1 and len(afters) == 1 and None not in befores:
            found.add(stream)
    return found


def apply(state: State, names: CellNames, access: Access, cell: int | None, run: Run | None) -> None:
    """Let a cell act on the state."""
    partial = run is not None and not run.complete
    start = dict(state.versions)
    static = {f"name:{name}" for effects in names.statements for name in state.through_functions(effects.reads)}
    hidden = access.reads - static
    left = set(access.writes) - {f"name:{name}" for name in names.total.deletes}

    def put(location: str, *parts: str) -> None:
        state.versions[location] = Version(
            _digest(location, *parts), cell, run, start.get(location), location in access.mutates
        )
        left.discard(location)

    for effects in names.statements:
        reads = {f"name:{name}" for name in state.through_functions(effects.reads)}
        reads |= {f"env:{name}" for name in effects.env_reads} | (hidden if effects.calls else set())
        mark = "partial" if partial and effects.dump.startswith(_COMPOUND) else ""
        made = _digest(effects.dump, mark, *state.terms(reads))
        for name in effects.binds:
            if f"name:{name}" in access.writes:
                put(f"name:{name}", made)
        # a module that was imported here is the same whatever its functions are called with
        touched = effects.touches - names.total.imports
        for name in (effects.stores | touched) - effects.binds:
            if f"name:{name}" in access.writes:
                put(f"name:{name}", made, "partial" if partial else "", *state.terms([f"name:{name}"]))
        for stream in state.seeds(effects):
            if f"rng:{stream}" in access.writes:
                put(f"rng:{stream}", made)
                hidden.add(f"rng:{stream}")
        for name in effects.deletes:
            state.versions.pop(f"name:{name}", None)
        state.functions.update(effects.defines)
    whole = [effects.dump for effects in names.statements if not effects.inert] or [names.key]
    beginnings = State(start).terms(access.reads)
    for location in tuple(left):
        own = State(start).terms([location]) if location in access.mutates else []
        put(location, *whole, "partial" if partial else "", *beginnings, *own)


def _digest(*parts: str) -> str:
    state = hashlib.blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()
