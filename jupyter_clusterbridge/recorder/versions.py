"""Versions of locations: which run made what a location holds, and what it held before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.effects import Effects
from jupyter_clusterbridge.recorder.runs import Run

_BY_CONTENT = ("file:", "module:")


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
    parts: Mapping[str, Version] = field(default_factory=dict)
    """Parts of the location that had versions of their own beside ``base``."""
    value: str | None = None
    """Text that is equal for equal values, where it was recorded."""
    outside: bool = False
    """Whether nothing in the notebook made it: a file that was found."""
    beside: str | None = None
    """Who made it where no cell did: ``widget``, ``thread``, ``task``, or empty where that is not known."""


class Values:
    """What values terms stand for, so that two ways to one value count as one.

    Only joins terms, never parts them: a statement that gives another value each time keeps one term.
    """

    def __init__(self) -> None:
        self._terms: dict[str, str] = {}

    def settle(self, location: str, term: str, value: str | None) -> str:
        """The term to use for a location: the same for every term that was seen with the same value."""
        if value is None:
            return self._terms.get(term, term)
        if location.startswith(_BY_CONTENT[1]):
            return by_content(location, value)
        return self._terms.setdefault(term, by_content(location, value))


def by_content(location: str, value: str) -> str:
    """The term of a value that is known by its content."""
    return digest(location, "value", value)


def base_of(location: str) -> str | None:
    """The location that a part belongs to.

    >>> base_of("column:df.z"), base_of("name:df")
    ('name:df', None)
    """
    kind, _, name = location.partition(":")
    return f"name:{name.partition('.')[0]}" if kind in ("column", "attr") else None


def is_chance(location: str, version: Version | None) -> bool:
    """Whether a random stream stands where it does by chance: no cell ever set its state."""
    if not location.startswith("rng:"):
        return False
    while version is not None and version.accumulated:
        version = version.base
    return version is None


def roots_of(parts: Iterable[str]) -> dict[str, set[str]]:
    """Names that hold frames (``column``) and classes or modules (``attr``), by kind of their parts."""
    roots: dict[str, set[str]] = {"column": set(), "attr": set()}
    for part in parts:
        kind, _, name = part.partition(":")
        roots[kind].add(name.partition(".")[0])
    return roots


class State:
    """A namespace of versions.

    Args:
        values: what is known of values, shared by all states that are compared.
        known: every part that any run touched, which tells the names with columns and with attributes.
    """

    def __init__(self, values: Values, known: frozenset[str] = frozenset()) -> None:
        self.values = values
        self.known = known
        self.roots = roots_of(known)
        self.versions: dict[str, Version] = {}
        self.functions: dict[str, Effects] = {}
        self._parts: dict[str, set[str]] = {}

    def copy(self) -> State:
        """Another state that changes on its own."""
        other = State(self.values)
        other.known, other.roots = self.known, self.roots
        other.versions, other.functions = dict(self.versions), dict(self.functions)
        other._parts = {base: set(parts) for base, parts in self._parts.items()}
        return other

    def find(self, location: str) -> Version | None:
        """The version of a location; of a part that nobody set by itself, that of the whole."""
        found = self.versions.get(location)
        base = base_of(location)
        return self.versions.get(base) if found is None and base is not None else found

    def put(self, location: str, version: Version) -> None:
        """A location gets a version; its parts stay."""
        self.versions[location] = version
        base = base_of(location)
        if base is not None:
            self._parts.setdefault(base, set()).add(location)

    def drop(self, location: str) -> None:
        """Nothing is known of a location any more, nor of its parts."""
        self.remove(location)
        self.drop_parts(location)

    def remove(self, location: str) -> None:
        """Nothing is known of a location itself any more."""
        self.versions.pop(location, None)
        base = base_of(location)
        if base is not None:
            self._parts.get(base, set()).discard(location)

    def drop_parts(self, location: str) -> None:
        """The parts of a location are what the whole now is."""
        for part in self._parts.pop(location, ()):
            self.versions.pop(part, None)

    def parts_of(self, location: str) -> set[str]:
        """Parts of a location that have versions of their own."""
        return self._parts.get(location, set())

    def whole(self, locations: Iterable[str]) -> set[str]:
        """Locations, with all columns of those that are read as a whole."""
        found = set(locations)
        for location in tuple(found):
            found.update(part for part in self.parts_of(location) if part.startswith("column:"))
        return found

    def terms(self, locations: Iterable[str]) -> list[str]:
        """Locations with their terms; those that nothing is known of are left out."""
        pairs = ((location, self.find(location)) for location in sorted(self.whole(locations)))
        return [
            f"{location}={version.term}"
            for location, version in pairs
            if version is not None and not is_chance(location, version)
        ]

    def bodies(self, effects: Effects) -> list[Effects]:
        """Effects with those of all functions of the notebook that they may call."""
        found = [effects]
        seen: set[str] = set()
        queue = list(effects.reads)
        while queue:
            name = queue.pop()
            if name not in seen and name in self.functions:
                found.append(self.functions[name])
                queue.extend(self.functions[name].reads)
            seen.add(name)
        return found

    def seeds(self, effects: Effects) -> set[str]:
        """Random streams that are set anew, also by functions of the notebook."""
        return set().union(*(body.seeds for body in self.bodies(effects)))


def digest(*parts: str) -> str:
    """A term."""
    state = hashlib.blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()
