"""Where each value came from: a term for each location, equal when a clean run would give it the same way.

A term is a digest over the statement that made the value and the terms of what that statement read. Two values
with one term were made by the same code from the same beginnings, whatever the order of the cells in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from jupyter_clusterbridge.recorder.effects import Effects
from jupyter_clusterbridge.recorder.names import CellNames, analyse_cell
from jupyter_clusterbridge.recorder.runs import Run
from jupyter_clusterbridge.recorder.versions import State, Version, base_of, digest

_COMPOUND = ("For(", "AsyncFor(", "While(", "With(", "AsyncWith(", "Try(", "TryStar(", "If(", "Match(")


@dataclass
class Access:
    """What a cell reads, writes and accumulates, as locations."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    values: Mapping[str, str] = field(default_factory=dict)
    """What written locations hold after it, where that was recorded."""


def static_access(names: CellNames, modules: set[str], roots: Mapping[str, set[str]]) -> Access:
    """What the syntax tree alone tells, for a cell that never ran to its end.

    Args:
        names: the cell's analysis.
        modules: names of modules that cells above import.
        roots: names that hold frames and classes or modules, by kind of their parts.
    """
    total = names.total
    changed = (total.stores | names.rebinds) - modules
    parts = {f"column:{name}.{label}" for name, label in total.item_stores if name in roots["column"]}
    parts |= {f"attr:{name}.{label}" for name, label in total.attribute_stores if name in roots["attr"]}
    updates = {f"column:{name}.{label}" for name, label in total.item_updates if name in roots["column"]}
    changed -= {base.partition(":")[2] for part in parts | updates if (base := base_of(part)) is not None}
    again = {part for part in parts if _reads_part(total, part)}
    return Access(
        reads={f"name:{name}" for name in total.reads} | {f"env:{name}" for name in total.env_reads},
        writes={f"name:{name}" for name in total.binds | changed}
        | {f"env:{name}" for name in total.env_writes}
        | {f"rng:{name}" for name in total.seeds}
        | parts
        | updates,
        mutates={f"name:{name}" for name in changed - total.fits} | again | updates,
    )


def _reads_part(total: Effects, part: str) -> bool:
    name, _, label = part.partition(":")[2].partition(".")
    return (name, label) in total.items or (name, label) in total.attributes or name in total.whole


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
    streams = {f"rng:{name}": text for name, text in run.rng_after.items()}
    return Access(
        reads=run.reads | drawn,
        writes=run.writes | {f"rng:{name}" for name in shifted | seeds},
        mutates=run.mutates | drawn,
        values={**streams, **run.values},
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


def located(state: State, effects: Effects, access: Access) -> set[str]:
    """Locations that a statement reads, also through functions of the notebook."""
    found = {f"env:{name}" for name in effects.env_reads}
    for body in state.bodies(effects):
        for name in body.reads:
            found |= _parts_read(state, body, name, access)
    return found


def _parts_read(state: State, body: Effects, name: str, access: Access) -> set[str]:
    whole = f"name:{name}"
    attributes = [chain for owner, chain in body.attributes if owner == name]
    if name in state.roots["column"]:
        return _columns_read(state, body, name, access)
    if name not in state.roots["attr"]:
        return {whole}
    parts = (part_of(f"attr:{name}.", chain, state.known) for chain in attributes)
    return {whole, *(part for part in parts if part is not None)}


def _columns_read(state: State, body: Effects, name: str, access: Access) -> set[str]:
    """Columns of a frame that code reads, or the frame as a whole; the rows alone where it only stores columns."""
    prefix = f"column:{name}."
    columns = {f"{prefix}{label}" for owner, label in body.items if owner == name}
    found = [part_of(prefix, chain, state.known) for owner, chain in body.attributes if owner == name]
    by_key = any(owner == name for owner, _ in body.keys)
    if name in body.whole or None in found or (by_key and f"name:{name}" in access.reads):
        return {f"name:{name}"}
    if by_key:
        columns |= {location for location in access.reads if location.startswith(prefix)}
    return columns | {part for part in found if part is not None} or {f"{prefix}index"}


def part_of(prefix: str, chain: str, known: AbstractSet[str]) -> str | None:
    """The known part that dotted attributes lead to.

    >>> part_of("attr:torch.", "backends.cudnn.benchmark.real", {"attr:torch.backends.cudnn.benchmark"})
    'attr:torch.backends.cudnn.benchmark'
    """
    steps = chain.split(".")
    tried = (prefix + ".".join(steps[:count]) for count in range(1, len(steps) + 1))
    return next((one for one in tried if one in known), None)


class _Writer:
    """One cell's writes to a state."""

    def __init__(self, state: State, access: Access, cell: int | None, run: Run | None) -> None:
        self.state = state
        self.start = state.copy()
        self.access = access
        self.left = set(access.writes)
        self._cell = cell
        self._run = run
        self._made: set[str] = set()

    def put(self, location: str, *parts: str, keeps_parts: bool = False) -> None:
        """A location gets a new version."""
        base = self.start.find(location)
        beside = {part: self.start.versions[part] for part in self.start.parts_of(location)}
        accumulated = location in self.access.mutates
        made = Version(digest(location, *parts), self._cell, self._run, base, accumulated, beside)
        if not keeps_parts:
            self.state.drop_parts(location)
        self.state.put(location, made)
        self.left.discard(location)
        self._made.add(location)

    def settle(self) -> None:
        """Give one term to equal values."""
        for location in self._made:
            made = self.state.versions.get(location)
            if made is None or made.run is not self._run:
                continue
            value = self.access.values.get(location)
            term = self.state.values.settle(location, made.term, value)
            self.state.put(location, replace(made, term=term, value=value))


def apply(
    state: State, names: CellNames, access: Access, cell: int | None, run: Run | None, partial: bool = False
) -> None:
    """Let a cell act on the state; ``partial`` is whether it does not come to its end."""
    unfinished = "partial" if partial else ""
    writer = _Writer(state, access, cell, run)
    static = set().union(*(located(state, effects, access) for effects in names.statements))
    hidden = access.reads - static
    writer.left -= {f"name:{name}" for name in names.total.deletes}
    for effects in names.statements:
        reads = located(state, effects, access) | (hidden if effects.calls else set())
        mark = unfinished if effects.dump.startswith(_COMPOUND) else ""
        made = digest(effects.dump, mark, *state.terms(reads))
        for name in effects.binds:
            if f"name:{name}" in access.writes:
                writer.put(f"name:{name}", made, keeps_parts=name in effects.imports)
        _write_in_place(writer, effects, (made, unfinished), names.total)
        for stream in state.seeds(effects):
            if f"rng:{stream}" in access.writes:
                writer.put(f"rng:{stream}", made)
                hidden.add(f"rng:{stream}")
        for name in effects.deletes:
            state.drop(f"name:{name}")
        state.functions.update(effects.defines)
    whole = [effects.dump for effects in names.statements if not effects.inert] or [names.key]
    beginnings = writer.start.terms(access.reads)
    for location in sorted(writer.left):
        own = writer.start.terms([location]) if location in access.mutates else []
        writer.put(location, *whole, unfinished, *beginnings, *own)
    writer.settle()


def _write_in_place(writer: _Writer, effects: Effects, made: tuple[str, str], total: Effects) -> None:
    """What a statement changes in old objects, and in parts of them."""
    state, writes = writer.state, writer.access.writes
    roots = (effects.stores | effects.touches | effects.asks) - effects.binds
    here, exact = _exact(effects), _exact(total)
    # a module that was imported here is the same whatever is done with it
    for name in sorted(roots - total.imports):
        location = f"name:{name}"
        if location in writes:
            writer.put(location, *made, *state.terms([location]))
    for part in sorted(location for location in writes if location.startswith(("column:", "attr:"))):
        root = part.partition(":")[2].partition(".")[0]
        if part in here:
            writer.put(part, *made)
        elif root in roots and part not in exact:
            writer.put(part, *made, *state.terms([part]))


def _exact(effects: Effects) -> set[str]:
    """Parts that code sets to a value of their own."""
    found = {f"column:{name}.{label}" for name, label in effects.item_stores | effects.attribute_stores}
    return found | {f"attr:{name}.{label}" for name, label in effects.attribute_stores}
