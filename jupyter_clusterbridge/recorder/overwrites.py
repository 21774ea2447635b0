"""Parts of old objects that a cell sets to values that do not depend on those parts: twice is as good as once."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from jupyter_clusterbridge.recorder.effects import Effects

_LOOKS = frozenset({"head", "tail", "info", "describe", "items", "keys", "values", "get", "sample"})
"""Methods that people end a cell with and that change nothing."""
Part = tuple[str, object]


def overwritten(body: Sequence[ast.stmt], statements: Sequence[Effects]) -> set[str]:
    """Names of which a cell sets parts only, each by ``name["part"] = value`` or ``name.part = value``.

    The values read no part of the same name that is set later, so that a second run finds and leaves the same.

    >>> tree = ast.parse("t['b'] = t['a'] * 2; u['a'] = u['a'] * 2; v.a = v.sum()")
    >>> overwritten(tree.body, [Effects()] * 3)
    {'t'}
    """
    written: dict[str, set[Part]] = defaultdict(set)
    read: dict[str, set[Part]] = defaultdict(set)
    spoiled: set[str] = set()
    for node, effects in zip(body, statements, strict=True):
        spoiled.update(*(inner.reads for inner in effects.defines.values()))
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        name, part = _part(target) if target is not None else (None, None)
        if name is None or part is None or not isinstance(node, ast.Assign):
            if not (effects.inert or _only_looks(node)):
                spoiled |= effects.reads | effects.stores | effects.touches | effects.binds | effects.deletes
            continue
        spoiled |= (effects.reads | effects.stores | effects.touches) - {name}
        parts = _parts_read(node.value, name)
        if parts is None:
            spoiled.add(name)
        else:
            read[name] |= parts - written[name]
        written[name].add(part)
    return {name for name in written if name not in spoiled and not written[name] & read[name]}


def _part(node: ast.expr) -> tuple[str | None, Part | None]:
    """The name and the part in ``name["part"]`` and ``name.part``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, (".", node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        key = node.slice
        return node.value.id, ("[]", key.value) if isinstance(key, ast.Constant) else None
    return None, None


def _parts_read(value: ast.expr, name: str) -> set[Part] | None:
    """Items of a name that an expression reads; None where it may read any."""
    items = [node for node in ast.walk(value) if isinstance(node, ast.Subscript) and _part(node)[0] == name]
    whole = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
    parts = {part for node in items if (part := _part(node)[1]) is not None}
    return parts if whole == len(items) and all(_part(node)[1] is not None for node in items) else None


def _only_looks(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in _LOOKS and isinstance(call.func.value, ast.Name)
