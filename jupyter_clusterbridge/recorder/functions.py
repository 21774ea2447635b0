"""Functions behind the values of a namespace, and what they use of it when they are called."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from jupyter_clusterbridge.recorder.codeuse import Uses, uses_of
from jupyter_clusterbridge.recorder.feeding import is_of
from jupyter_clusterbridge.recorder.fingerprints import identity
from jupyter_clusterbridge.recorder.partwatch import module_label
from jupyter_clusterbridge.runtime.local_modules import is_local

_LIMIT = 300
_HELD = 20
"""Functions of a list or dictionary that are followed; larger ones hold data."""
_WRAPPERS = (functools.partial, functools._lru_cache_wrapper, types.MethodType)


def uses_behind(value: object, namespace: Mapping[str, Any]) -> Uses:
    """What a function, class, object or small container of the notebook uses when it is called."""
    found = Uses()
    for function in _functions_of(value, namespace):
        found.merge(uses_of(function.__code__))
    return found


def module_reads(
    value: object, name: str, attributes: AbstractSet[tuple[str, str]], namespace: Mapping[str, Any]
) -> set[str]:
    """Settings of the person's own modules that functions of these modules read.

    Args:
        value: what a name holds: such a function, or such a module.
        name: that name.
        attributes: attributes that the cell reads, as name and dotted attributes.
        namespace: the user's namespace, which knows the modules' names there.
    """
    if is_of(value, types.ModuleType):
        if not is_local(value):
            return set()
        firsts = {chain.partition(".")[0] for owner, chain in attributes if owner == name}
        queue = [vars(value).get(first) for first in firsts]
    else:
        queue = [value]
    found: set[str] = set()
    seen: set[int] = set()
    while queue and len(seen) < _LIMIT:
        one = queue.pop()
        if not is_of(one, types.FunctionType) or identity(one) in seen or one.__globals__ is namespace:
            continue
        seen.add(identity(one))
        module = sys.modules.get(one.__module__ or "")
        if module is None or not is_local(module) or one.__globals__ is not vars(module):
            continue
        used = uses_of(one.__code__)
        queue += [vars(module).get(inner) for inner in used.names]
        labels = {inner for inner in used.names if module_label(module, inner) is not None}
        roots = [root for root, held in namespace.items() if held is module]
        found |= {f"attr:{root}.{label}" for root in roots for label in labels}
    return found


def _behind(value: object, namespace: Mapping[str, Any]) -> list[types.FunctionType]:
    """A function, what it wraps, and what it holds in its closure, as far as the notebook defines them."""
    found: list[types.FunctionType] = []
    seen: set[int] = set()
    queue: list[object] = [value]
    while queue and len(seen) < _LIMIT:
        one = queue.pop()
        if identity(one) in seen:
            continue
        seen.add(identity(one))
        if is_of(one, functools.partial):
            queue += [one.func, *one.args, *one.keywords.values()]
        elif is_of(one, types.MethodType):
            queue.append(one.__func__)
        elif is_of(one, functools._lru_cache_wrapper):
            queue.append(one.__wrapped__)
        elif is_of(one, types.FunctionType):
            if one.__globals__ is namespace:
                found.append(one)
            queue += [vars(one)["__wrapped__"]] if "__wrapped__" in vars(one) else []
            queue += [cell.cell_contents for cell in one.__closure__ or () if _is_filled(cell)]
    return found


def _is_filled(cell: types.CellType) -> bool:
    try:
        return is_of(cell.cell_contents, (types.FunctionType, *_WRAPPERS))
    except ValueError:  # a variable of the outer function that is not bound yet
        return False


def _functions_of(value: object, namespace: Mapping[str, Any]) -> list[types.FunctionType]:
    if is_of(value, (types.FunctionType, *_WRAPPERS)):
        return _behind(value, namespace)
    if type(value) in (list, tuple, dict) and 0 < len(value) <= _HELD:  # type: ignore[arg-type]
        items = value.values() if is_of(value, dict) else value
        held = [item for item in items if is_of(item, (types.FunctionType, *_WRAPPERS))]  # type: ignore[attr-defined]
        return [function for item in held for function in _behind(item, namespace)]
    cls = value if is_of(value, type) else type(value)
    members = [member for base in cls.__mro__ if base.__module__ == "__main__" for member in vars(base).values()]
    unwrapped = [getattr(member, "__func__", getattr(member, "fget", member)) for member in members]
    return [member for member in unwrapped if is_of(member, types.FunctionType)]


def modules_used(value: object, name: str, attributes: AbstractSet[tuple[str, str]]) -> set[str]:
    """Names of the person's own modules whose code or data a value stands for, and of those that they use.

    Args:
        value: what a name holds.
        name: that name.
        attributes: attributes that the cell reads, as name and dotted attributes.
    """
    if is_of(value, types.ModuleType):
        queue: list[object] = [value]
        for owner, chain in attributes:
            inner: object = value
            for step in chain.split(".") if owner == name else ():
                inner = vars(inner).get(step) if is_of(inner, types.ModuleType) else None
                queue.append(inner)
    else:
        coded = is_of(value, (type, types.FunctionType))
        queue = [sys.modules.get(str((value if coded else type(value)).__module__))]
    found: set[str] = set()
    while queue and len(found) < _HELD:
        module = queue.pop()
        if not is_of(module, types.ModuleType) or module.__name__ in found or not is_local(module):
            continue
        found.add(module.__name__)
        for held in vars(module).values():
            coded = is_of(held, (type, types.FunctionType))
            queue.append(sys.modules.get(str(getattr(held, "__module__", ""))) if coded else held)
    return found
