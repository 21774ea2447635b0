"""What one run of a cell read and changed: the syntax tree's answer, checked against the values themselves."""

from __future__ import annotations

import hashlib
import itertools
import operator
import os
import re
import secrets
import sys
import time
import types
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import xxhash

from jupyter_clusterbridge.recorder.aliases import other_names
from jupyter_clusterbridge.recorder.feeding import identity, is_of
from jupyter_clusterbridge.recorder.fingerprints import (
    Fingerprint,
    is_estimator,
    is_library_estimator,
    is_notebook_class,
    is_torch_module,
)
from jupyter_clusterbridge.recorder.functions import module_reads, modules_used, uses_behind
from jupyter_clusterbridge.recorder.hidden import (
    holds_state,
    is_consumed,
    is_machinery,
    is_notebook_object,
    is_open_file,
)
from jupyter_clusterbridge.recorder.look import BUDGET_S, Look, allowance_after
from jupyter_clusterbridge.recorder.names import CellNames
from jupyter_clusterbridge.recorder.overwrites import allows
from jupyter_clusterbridge.recorder.partwatch import Changes, PartWatch, Reading, class_names, class_parts
from jupyter_clusterbridge.recorder.texts import with_texts
from jupyter_clusterbridge.runtime.local_modules import is_local

_SHELL_NAME = re.compile(r"_+|__\w+__|_i+|_i?\d+|_[doxs]h|In|Out|get_ipython|exit|quit|open|_exit_code")
_FUNCTION_LIMIT = 300
_MAX_VALUES = 50
_SEAL = secrets.token_bytes(16)
_ATOMS = (bool, int, float, complex, str, bytes, type(None))
_NO_STATE = (types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)


@dataclass(frozen=True)
class Locations:
    """Locations of one run, as the journal holds them: sorted strings ``kind:name``."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    """Texts that are equal for equal values, of written names whose value is known for certain."""


class Footprint:
    """Looks at the namespace before a cell and, in :meth:`finish`, after it.

    Args:
        names: the cell's analysis.
        namespace: the user's namespace; it is only read.
        budget_s: processor time for fingerprints in seconds: half of it before the cell, what is left after it,
            or a hundredth of the cell's duration where that is more.
    """

    def __init__(self, names: CellNames, namespace: Mapping[str, Any], budget_s: float = BUDGET_S) -> None:
        self._names = names = with_texts(names, namespace)
        self._namespace = namespace
        self._budget_s = budget_s
        # as lists, so that a namespace of thousands of names is compared without a loop in Python
        self._keys, self._ids = list(namespace), list(map(identity, namespace.values()))
        self._environ, self._folder = _raw_environ(), _working_folder()
        self._untracked: set[str] = set()
        self._refitted: set[str] = set()
        self._after: dict[str, Fingerprint] = {}
        self._indirect: set[str] = set()
        self._env: set[str] = set()
        total = names.total
        self._reading = Reading(set(total.whole), set(total.items), set(total.attributes))
        self._reads, through = self._follow()
        self._rebinds = names.rebinds | (through - names.total.binds)
        self._overwrites = {
            name
            for name, methods in names.overwrites.items()
            if name not in self._indirect and allows(namespace.get(name), methods)
        }
        self._before: dict[str, Fingerprint] = {}
        self._weights: dict[str, Fingerprint | None] = {}
        candidates = self._candidates(through)
        owners = {name for name, _ in total.attribute_stores | total.attribute_updates}
        touched = {*candidates, *total.stores, *self._touched(), *owners}
        self._parts = PartWatch(names, self._reading, namespace, touched | class_names(touched, namespace))
        self._read_locations = self._parts_read()
        candidates = [name for name in candidates if name not in self._parts.names]
        self._held = {name: identity(namespace[name]) for name in candidates}
        self._look = Look(budget_s / 2)
        for name in sorted(self._parts.names):
            self._parts.look(name, self._look.deadline)
        for name in candidates:
            found = self._look.at(namespace[name])
            if found is not None:
                self._before[name] = found
            if name in names.total.modes and is_torch_module(namespace[name]):
                self._weights[name] = self._look.weights(namespace[name])
        self._looked_at = candidates
        self._spent_s = self._look.spent_s
        self._began = time.perf_counter()

    def _follow(self) -> tuple[set[str], set[str]]:
        """Global names that the cell reads, itself or through functions of the notebook; and the latter alone."""
        known = self._namespace
        total = self._names.total
        seen = {name for name in total.reads if name in known}
        queue = list(seen)
        through: set[str] = set()
        while queue and len(seen) < _FUNCTION_LIMIT:
            used = uses_behind(known[queue.pop()], known)
            self._indirect |= used.names | used.writes
            self._env |= used.env
            self._reading.whole |= used.whole
            self._reading.items |= used.items
            self._reading.attributes |= used.attributes
            for name in used.names:
                if name not in seen and name in known and name not in total.sure:
                    seen.add(name)
                    through.add(name)
                    queue.append(name)
        return {name for name in seen if not _is_shells(name)}, through

    def _parts_read(self) -> set[str]:
        """Locations of all that is read, parts among them."""
        found: set[str] = set()
        for name in self._reads:
            value = self._namespace[name]
            found |= self._parts.reads(name)
            found |= class_parts(type(value), self._namespace)
            found |= module_reads(value, name, self._reading.attributes, self._namespace)
            found |= {f"module:{module}" for module in modules_used(value, name, self._reading.attributes)}
        return found

    def _candidates(self, through: set[str]) -> list[str]:
        total = self._names.total
        chosen = total.stores | self._touched() | self._names.rebinds
        bound = total.binds | through
        known = self._namespace
        chosen |= {name for name in total.iterates if is_consumed(known.get(name))}
        chosen |= {name for name in self._reads if is_notebook_object(known.get(name))}
        if total.opaque:
            chosen |= {name for name in known if not (_is_shells(name) or name.startswith("_"))}
        if total.calls:
            chosen |= through
            if "torch" in sys.modules:
                chosen |= {name for name, value in self._namespace.items() if is_torch_module(value)}
        chosen = {name for name in chosen if name in known and not _is_shells(name)}
        found = [name for name in chosen if not _stateless(known[name], name in bound)]

        def rank(name: str) -> tuple[bool, bool, bool, str]:
            # in case that time runs out: first what most likely changes, last the forests of a thousand trees
            value = known[name]
            return not is_torch_module(value), name not in total.stores, is_estimator(value), name

        return sorted(found, key=rank)

    def _touched(self) -> set[str]:
        """Old objects that a call may change; an estimator that predicts stays as it is."""
        total, known = self._names.total, self._namespace
        return total.touches | {name for name in total.asks if not is_library_estimator(known.get(name))}

    def finish(self, ok: bool) -> Locations:
        """Compare; ``ok`` is whether the cell ran to its end."""
        total = self._names.total
        duration_s = time.perf_counter() - self._began
        self._look = Look(allowance_after(self._budget_s, self._spent_s, duration_s))
        parts = self._part_changes(ok)
        changed = self._changed(ok) | parts.wholes
        writes, mutates = self._bound(ok), set(changed)
        same = {name for name in writes & self._rebinds if self._is_same_value(name)}
        writes = (writes - same) | mutates | self._refitted
        mutates |= (writes & self._rebinds) - same
        aliases = self._aliases(mutates, self._bound(ok))
        self._part_aliases(parts)
        environ = self._changed_environ() | ({name for name in total.env_writes if _is_set(name)} if ok else set())
        grown = self._grown(environ)
        moved = self._moved()
        went = {location for location in moved if total.looks_around}
        read = {f"name:{name}" for name in mutates & (self._held.keys() | parts.wholes)}
        read |= {f"env:{name}" for name in (total.env_reads | self._env) - environ | grown}
        grew = (mutates | aliases) - self._repeatable(mutates)
        read |= {"cwd:."} if total.looks_around else set()
        return Locations(
            reads=_sorted(self._read_locations | read | parts.mutates | self._imported_parts()),
            writes=_sorted({*_named(writes | aliases, environ), *parts.writes, *moved}),
            mutates=_sorted({*_named(grew, grown), *parts.mutates, *went}),
            untracked=_sorted(_named(self._untracked)),
            values={**self._values(writes), **_known_values(parts.writes), **moved, **_environ_values(environ)},
        )

    def _grown(self, environ: set[str]) -> set[str]:
        """Changed variables whose new value may come from the old one."""
        return self._changed_environ() & environ & (self._names.total.env_reads | self._env)

    def _moved(self) -> dict[str, str]:
        """The working directory where the cell left it, as a value, if that is another place."""
        now = _working_folder()
        if now == self._folder:
            return {}
        return {"cwd:.": _sealed(xxhash.xxh3_64_intdigest(os.fsencode(now or "")))}

    def _part_changes(self, ok: bool) -> Changes:
        repeatable = {name for name in self._overwrites if not self._other_names_read(name)}
        found = self._parts.finish(ok, repeatable, self._look.deadline)
        self._untracked |= found.untracked
        return found

    def _other_names_read(self, name: str) -> bool:
        held = self._parts.held.get(name)
        others = {one for one, value in self._namespace.items() if identity(value) == held} - {name}
        return bool(others & self._names.total.reads - self._names.shown)

    def _imported_parts(self) -> set[str]:
        """What the cell reads of modules that it imports itself."""
        names = {name for name, _ in self._names.total.attributes} & self._names.total.imports
        found = (self._parts.reads(name) for name in names if is_local(self._namespace.get(name)))
        return {part for parts in found for part in parts if part.startswith("attr:")}

    def _values(self, writes: set[str]) -> dict[str, str]:
        """What the time that is left allows to know of the values that were written."""
        found: dict[str, str] = {}
        for name in sorted(writes & self._namespace.keys())[:_MAX_VALUES]:
            known = self._look.in_full(self._namespace[name])
            if known is not None and known.by_value:
                found[f"name:{name}"] = _sealed(known.digest)
        return found

    def _bound(self, ok: bool) -> set[str]:
        """Names bound, bound anew or deleted."""
        now, count = self._namespace, len(self._keys)
        keys, ids = list(now), list(map(identity, now.values()))
        if keys[:count] == self._keys:
            found = set(itertools.compress(keys, map(operator.ne, self._ids, ids))) | set(keys[count:])
        else:
            before = dict(zip(self._keys, self._ids, strict=True))
            found = {name for name, now_id in zip(keys, ids, strict=True) if before.get(name) != now_id}
            found |= before.keys() - now.keys()
        if ok:
            found |= self._names.total.sure & now.keys()
        return {name for name in found if not _is_shells(name)}

    def _changed(self, ok: bool) -> set[str]:
        """Names whose object is the same as before and changed in place."""
        total = self._names.total
        changed: set[str] = set()
        for name in self._looked_at:
            if name not in self._namespace:
                continue
            value, before = self._namespace[name], self._before.get(name)
            after = self._look.again(value, before) if before is not None else None
            if after is not None:
                self._after[name] = after
            if self._held.get(name) != identity(value):
                continue
            if name in total.fits and is_estimator(value):
                self._refitted.add(name)
                continue
            differs, same = _compare(before, after)
            used_up = name not in total.stores and self._is_used_up(name)
            if used_up or differs or (ok and name in total.stores and not same):
                changed.add(name)
            elif after is None or after.sampled:
                self._untracked.add(name)
        return changed

    def _is_used_up(self, name: str) -> bool:
        """Whether the cell goes through an iterator, or uses an open file: what is left of them does not show."""
        value, total = self._namespace[name], self._names.total
        return (name in total.iterates and is_consumed(value)) or (name in total.touches and is_open_file(value))

    def _is_same_value(self, name: str) -> bool:
        """Whether a name that was bound anew holds, for certain, what it held before."""
        before, after = self._before.get(name), self._after.get(name)
        if before is None or after is None:
            return False
        exact = before.exact and after.exact
        return before.digest == after.digest and (exact or before.identity == after.identity)

    def _aliases(self, changed: set[str], bound: AbstractSet[str] = frozenset()) -> set[str]:
        """Other names through which objects that changed are seen; of names bound here the objects' own."""
        held = {**self._held, **self._parts.held}
        same = [
            name
            for name in changed & held.keys()
            if name in self._namespace and identity(self._namespace[name]) == held[name]
        ]
        objects = {held[name] for name in same}
        found = other_names(same, self._namespace)
        kept = {name for name in found if name not in bound or identity(self._namespace[name]) in objects}
        return {name for name in kept if not _is_shells(name)}

    def _part_aliases(self, parts: Changes) -> None:
        """The same changes of parts, by the other names of their objects."""
        for location in tuple(parts.writes):
            kind, _, name = location.partition(":")
            root, _, label = name.partition(".")
            if root not in self._parts.held:
                continue
            for other in self._aliases({root}) - {root}:
                held = identity(self._namespace[other]) == self._parts.held[root]
                seen = f"{kind}:{other}.{label}" if held else f"name:{other}"
                parts.writes.setdefault(seen, parts.writes[location] if held else None)
                parts.mutates |= {seen} if location in parts.mutates else set()

    def _repeatable(self, changed: set[str]) -> set[str]:
        """Names of objects of which parts were set anew that a second run would set to the same."""
        found: set[str] = set()
        for name in changed & (self._overwrites | self._switched()):
            same = self._aliases({name}) | {name}
            if not (same - {name}) & self._names.total.reads - self._names.shown:
                found |= same
        return found

    def _switched(self) -> set[str]:
        """Models of which the cell changed nothing but the mode, which it would set to the same again."""
        return {
            name
            for name, old in self._weights.items()
            if old is not None
            and is_torch_module(self._namespace.get(name))
            and self._look.weights(self._namespace[name]) == old
        }

    def _changed_environ(self) -> set[str]:
        now, before = _raw_environ(), self._environ
        if now == before:
            return set()
        return {os.fsdecode(name) for name in now.keys() | before.keys() if now.get(name) != before.get(name)}


def _is_shells(name: object) -> bool:
    """Whether a name is the shell's own, or no name at all: ``globals()[5] = x`` is possible."""
    return type(name) is not str or _SHELL_NAME.fullmatch(name) is not None


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return None


def _is_set(name: str) -> bool:
    return os.fsencode(name) in _raw_environ() or name in _raw_environ()


def _environ_values(names: Iterable[str]) -> dict[str, str]:
    found = {name: os.environ.get(name) for name in names}
    return {
        f"env:{name}": _sealed(xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogateescape")))
        for name, value in found.items()
        if value is not None
    }


def _raw_environ() -> dict[Any, Any]:
    """The environment's own dictionary, copied: decoding every variable would cost more than the cell."""
    return dict(getattr(os.environ, "_data", os.environ))


def _named(names: Iterable[str], variables: Iterable[str] = ()) -> set[str]:
    return {f"name:{name}" for name in names} | {f"env:{name}" for name in variables}


def _sorted(locations: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(locations))


def _known_values(prints: Mapping[str, Fingerprint | None]) -> dict[str, str]:
    found = {location: _sealed(one.digest) for location, one in prints.items() if one is not None and one.by_value}
    return dict(sorted(found.items())[:_MAX_VALUES])


def _sealed(digest: int) -> str:
    """A digest that tells nothing to who does not know the key of this process, which is written nowhere."""
    return hashlib.blake2b(digest.to_bytes(8, "little"), digest_size=6, key=_SEAL).hexdigest()


def _compare(before: Fingerprint | None, after: Fingerprint | None) -> tuple[bool, bool]:
    """Whether two fingerprints prove a change, and whether they prove that there was none."""
    if before is None or after is None:
        return False, False
    equal = before.digest == after.digest
    return not equal, equal and before.exact and after.exact


def _stateless(value: object, bound: bool) -> bool:
    """Whether there is nothing in a value that could change; scalars matter only where the name is bound anew."""
    if is_machinery(value):
        return True
    if is_notebook_class(value) or holds_state(value):
        return False
    return is_of(value, _NO_STATE) or (type(value) in _ATOMS and not bound)
