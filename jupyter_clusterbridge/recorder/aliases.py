"""Other names through which a changed object is seen: the same object, a view of its memory, what holds it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from jupyter_clusterbridge.recorder.feeding import identity, is_a, is_of
from jupyter_clusterbridge.recorder.hidden import is_notebook_object

_HELD = 50
"""Items of a holder that are looked at; larger ones hold data of their own."""


def other_names(changed: Iterable[str], namespace: Mapping[str, Any]) -> set[str]:
    """Names of the namespace whose values show a change of these names' objects, the names themselves among them.

    >>> rows = [1]
    >>> sorted(other_names(["rows"], {"rows": rows, "alias": rows, "holder": {"k": rows}, "copy": [1]}))
    ['alias', 'holder', 'rows']
    """
    objects = [namespace[name] for name in changed if name in namespace]
    if not objects:
        return set()
    identities = {identity(value) for value in objects}
    # without a loop in Python, for a namespace of thousands of names
    same = map(identities.__contains__, map(identity, namespace.values()))
    found = set(itertools.compress(list(namespace), same))
    roots = {root for value in objects if (root := _memory(value)) is not None}
    for name, value in namespace.items():
        if name in found or type(name) is not str or name.startswith("_"):
            continue
        if _holds(value, identities) or (roots and _memory(value) in roots and _overlaps(value, objects)):
            found.add(name)
    return found


def _holds(value: Any, identities: set[int]) -> bool:
    kind = type(value)
    if kind in (list, tuple):
        return len(value) <= _HELD and any(identity(item) in identities for item in value)
    if kind is dict:
        return len(value) <= _HELD and any(identity(item) in identities for item in value.values())
    if not is_notebook_object(value) or is_of(value, type):
        return False
    try:
        held = object.__getattribute__(value, "__dict__")
    except Exception:  # none, or one that the notebook's class computes
        return False
    return type(held) is dict and any(identity(item) in identities for item in held.values())


def _memory(value: Any) -> tuple[str, int] | None:
    """What arrays and tensors share that are views of one memory."""
    if is_a(value, "numpy", "ndarray"):
        while is_a(value.base, "numpy", "ndarray"):
            value = value.base
        return ("numpy", identity(value))
    if is_a(value, "torch", "Tensor") and value.layout.__repr__() == "torch.strided":
        try:
            return ("torch", value.untyped_storage().data_ptr())
        except (AttributeError, RuntimeError):  # a tensor that has no memory of its own
            return None
    return None


def _overlaps(value: Any, objects: list[Any]) -> bool:
    if not is_a(value, "numpy", "ndarray"):
        return True
    import numpy as np

    return any(is_a(other, "numpy", "ndarray") and np.may_share_memory(value, other) for other in objects)
