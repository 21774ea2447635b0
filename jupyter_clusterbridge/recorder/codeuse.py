"""Which globals, and which parts of them, compiled code uses: from its byte code, without running it."""

from __future__ import annotations

import dis
import functools
import types
from dataclasses import dataclass, field

_NOISE = frozenset({"CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "PRECALL", "COPY", "DUP_TOP", "RESUME", "SWAP"})
_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_ITEMS = frozenset({"BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"})
_ENVIRONMENT = frozenset({"getenv", "environ.get", "environ.pop", "environ.setdefault"})


@dataclass
class Uses:
    """What code uses; the same words as in :class:`~jupyter_clusterbridge.recorder.effects.Effects`."""

    names: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    items: set[tuple[str, str]] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    """Globals that are bound."""
    env: set[str] = field(default_factory=set)

    def merge(self, other: Uses) -> None:
        """Add what other code uses."""
        for name in ("names", "whole", "items", "attributes", "writes", "env"):
            getattr(self, name).update(getattr(other, name))


@functools.lru_cache(maxsize=1024)
def uses_of(code: types.CodeType) -> Uses:
    """What a code object and those inside it use. The result is shared: read it, never change it.

    >>> found = uses_of(compile("Config.lr + frame['a'].sum() + total", "", "eval"))
    >>> sorted(found.attributes), sorted(found.items), sorted(found.whole)
    ([('Config', 'lr')], [('frame', 'a')], ['total'])
    """
    out = Uses()
    steps = [step for step in dis.get_instructions(code) if step.opname not in _NOISE]
    for place, step in enumerate(steps):
        if step.opname in _GLOBALS:
            _add(out, step.argval, steps[place + 1 : place + 12])
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            out.writes.add(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            out.merge(uses_of(constant))
    return out


def _add(out: Uses, name: str, rest: list[dis.Instruction]) -> None:
    out.names.add(name)
    chain: list[str] = []
    while rest and rest[0].opname in _ATTRIBUTES:
        chain.append(str(rest.pop(0).argval))
    key = _key(rest)
    if chain:
        dotted = ".".join(chain)
        out.attributes.add((name, dotted))
        if name == "os" and key is not None and (dotted in _ENVIRONMENT or dotted == "environ"):
            out.env.add(key)
    elif rest and rest[0].opname == "STORE_ATTR":
        return
    elif key is not None and len(rest) > 1 and _is_item(rest[1]):
        out.items.add((name, key))
    else:
        out.whole.add(name)


def _key(rest: list[dis.Instruction]) -> str | None:
    if rest and rest[0].opname == "LOAD_CONST" and isinstance(rest[0].argval, str):
        return rest[0].argval
    return None


def _is_item(step: dis.Instruction) -> bool:
    return step.opname in _ITEMS or (step.opname == "BINARY_OP" and step.argrepr == "[]")
