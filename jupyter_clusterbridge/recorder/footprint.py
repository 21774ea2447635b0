"""What one run of a cell read and changed: the syntax tree's answer, checked against the values themselves."""

from __future__ import annotations

import functools
import hashlib
import itertools
import operator
import os
import re
import secrets
import sys
import time
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_clusterbridge.recorder.feeding import identity
from jupyter_clusterbridge.recorder.fingerprints import (
    Fingerprint,
    is_estimator,
    is_notebook_class,
    is_torch_module,
)
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

_SHELL_NAME = re.compile(r"_+|__\w+__|_i+|_i?\d+|_[doxs]h|In|Out|get_ipython|exit|quit|open|_exit_code")
_FUNCTION_LIMIT = 300
_MAX_VALUES = 50
_SEAL = secrets.token_bytes(16)
_ATOMS = (bool, int, float, complex, str, bytes, type(None))
_WRAPPERS = (functools.partial, functools._lru_cache_wrapper)
_NO_STATE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


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
        self._names = names
        self._namespace = namespace
        self._budget_s = budget_s
        # as lists, so that a namespace of thousands of names is compared without a loop in Python
        self._keys, self._ids = list(namespace), list(map(identity, namespace.values()))
        self._environ = _raw_environ()
        self._untracked: set[str] = set()
        self._refitted: set[str] = set()
        self._after: dict[str, Fingerprint] = {}
        self._indirect: set[str] = set()
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
        self._held = {name: identity(namespace[name]) for name in candidates}
        self._look = Look(budget_s / 2)
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
            used = _globals_of(known[queue.pop()], known)
            self._indirect |= used
            for name in used:
                if name not in seen and name in known and name not in total.sure:
                    seen.add(name)
                    through.add(name)
                    queue.append(name)
        return {name for name in seen if not _SHELL_NAME.fullmatch(name)}, through

    def _candidates(self, through: set[str]) -> list[str]:
        total = self._names.total
        chosen = total.stores | total.touches | self._names.rebinds
        bound = total.binds | through
        known = self._namespace
        chosen |= {name for name in total.iterates if is_consumed(known.get(name))}
        chosen |= {name for name in self._reads if is_notebook_object(known.get(name))}
        if total.opaque:
            chosen |= {name for name in known if not (name.startswith("_") or _SHELL_NAME.fullmatch(name))}
        if total.calls:
            chosen |= through
            if "torch" in sys.modules:
                chosen |= {name for name, value in self._namespace.items() if is_torch_module(value)}
        chosen = {name for name in chosen if name in known and not _SHELL_NAME.fullmatch(name)}
        found = [name for name in chosen if not _stateless(known[name], name in bound)]
        # what most likely changes comes first, in case that time runs out
        return sorted(found, key=lambda name: (not is_torch_module(known[name]), name not in total.stores, name))

    def finish(self, ok: bool) -> Locations:
        """Compare; ``ok`` is whether the cell ran to its end."""
        total = self._names.total
        duration_s = time.perf_counter() - self._began
        self._look = Look(allowance_after(self._budget_s, self._spent_s, duration_s))
        writes, mutates = self._bound(ok), self._changed(ok)
        same = {name for name in writes & self._rebinds if self._is_same_value(name)}
        writes = (writes - same) | mutates | self._refitted
        mutates |= (writes & self._rebinds) - same
        aliases = self._aliases(mutates)
        reads = self._reads | (mutates & self._held.keys())
        repeatable = self._repeatable(mutates)
        environ = self._changed_environ()
        read_env = total.env_reads - environ
        return Locations(
            reads=_sorted(reads, read_env),
            writes=_sorted(writes | aliases, environ),
            mutates=_sorted((mutates | aliases) - repeatable),
            untracked=_sorted(self._untracked),
            values=self._values(writes),
        )

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
        return {name for name in found if not _SHELL_NAME.fullmatch(name)}

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

    def _aliases(self, changed: set[str]) -> set[str]:
        """Other names of the objects that changed in place."""
        identities = {
            self._held[name]
            for name in changed & self._held.keys()
            if name in self._namespace and identity(self._namespace[name]) == self._held[name]
        }
        if not identities:
            return set()
        ids = map(identity, self._namespace.values())
        names = itertools.compress(list(self._namespace), map(identities.__contains__, ids))
        return {name for name in names if not _SHELL_NAME.fullmatch(name)}

    def _repeatable(self, changed: set[str]) -> set[str]:
        """Names of objects of which parts were set anew that a second run would set to the same."""
        found: set[str] = set()
        for name in changed & (self._overwrites | self._switched()):
            same = self._aliases({name}) | {name}
            if not (same - {name}) & self._names.total.reads:
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


def _raw_environ() -> dict[Any, Any]:
    """The environment's own dictionary, copied: decoding every variable would cost more than the cell."""
    return dict(getattr(os.environ, "_data", os.environ))


def _sorted(names: set[str], variables: set[str] = frozenset()) -> tuple[str, ...]:  # type: ignore[assignment]
    return tuple(sorted([f"name:{name}" for name in names] + [f"env:{name}" for name in variables]))


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
    return isinstance(value, _NO_STATE) or (type(value) in _ATOMS and not bound)


def _globals_of(value: object, namespace: Mapping[str, Any]) -> set[str]:
    """Global names that a function, class or object of the notebook uses when it is called."""
    found: set[str] = set()
    for function in _functions_of(value, namespace):
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            found.update(code.co_names)
            codes.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return found


def _behind(value: object, namespace: Mapping[str, Any]) -> list[types.FunctionType]:
    """A function, what it wraps, and what it holds in its closure, as far as the notebook defines them."""
    found: list[types.FunctionType] = []
    seen: set[int] = set()
    queue: list[object] = [value]
    while queue and len(seen) < _FUNCTION_LIMIT:
        one = queue.pop()
        if identity(one) in seen:
            continue
        seen.add(identity(one))
        if isinstance(one, functools.partial):
            queue.append(one.func)
        elif isinstance(one, functools._lru_cache_wrapper):
            queue.append(one.__wrapped__)
        elif isinstance(one, types.FunctionType):
            if one.__globals__ is namespace:
                found.append(one)
            queue += [vars(one)["__wrapped__"]] if "__wrapped__" in vars(one) else []
            queue += [cell.cell_contents for cell in one.__closure__ or () if _is_filled(cell)]
    return found


def _is_filled(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, (types.FunctionType, *_WRAPPERS))
    except ValueError:  # a variable of the outer function that is not bound yet
        return False


def _functions_of(value: object, namespace: Mapping[str, Any]) -> list[types.FunctionType]:
    if isinstance(value, (types.FunctionType, *_WRAPPERS)):
        return _behind(value, namespace)
    cls = value if isinstance(value, type) else type(value)
    members = [member for base in cls.__mro__ if base.__module__ == "__main__" for member in vars(base).values()]
    unwrapped = [getattr(member, "__func__", getattr(member, "fget", member)) for member in members]
    return [member for member in unwrapped if isinstance(member, types.FunctionType)]
