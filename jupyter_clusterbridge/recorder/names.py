"""What a cell reads, binds and changes, from its syntax tree alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.calls import is_relative
from jupyter_clusterbridge.recorder.effects import Effects
from jupyter_clusterbridge.recorder.overwrites import overwritten
from jupyter_clusterbridge.recorder.walker import Shared, Walker, body_effects
from jupyter_clusterbridge.runtime.source import Magic, parse_cell


@dataclass(frozen=True)
class CellNames:
    """The analysis of one cell."""

    key: str
    """Equal for cells that differ only in formatting and comments."""
    statements: tuple[Effects, ...]
    total: Effects
    magics: tuple[Magic, ...] = ()
    overwrites: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Names of which it sets parts to values that do not depend on those parts, with the methods it does so by."""
    shown: frozenset[str] = frozenset()
    """Names that it reads for nothing but output."""

    @property
    def rebinds(self) -> set[str]:
        """Names read before they are bound anew: their new value may come from the old one."""
        return self.total.reads & self.total.binds


@functools.lru_cache(maxsize=4096)
def analyse_cell(source: str) -> CellNames:
    """Analyse a cell; never raises. The result is shared: read it, never change it."""
    parsed = parse_cell(source)
    magics = "".join(f"\n{m.kind}|{m.name}|{m.body}|{m.target}" for m in parsed.magics)
    if parsed.tree is None or _is_foreign(parsed.magics):
        lines = (line.rstrip() for line in source.strip().splitlines())
        return CellNames("text:" + "\n".join(lines), (), Effects(), parsed.magics)
    shared = Shared()
    if any(magic.kind == "cell" and magic.name == "timeit" for magic in parsed.magics):
        statements: tuple[Effects, ...] = (_timed(parsed.tree),)
    else:
        statements = tuple(_statement(node, parsed.magics, shared) for node in parsed.tree.body)
    total = _sum(statements)
    _add_environment_magics(total, parsed.magics)
    key = "\n".join(effects.dump for effects in statements) + magics
    overwrites = overwritten(parsed.tree.body, statements) if len(statements) == len(parsed.tree.body) else {}
    return CellNames(key, statements, total, parsed.magics, overwrites, _shown(statements, total))


def _shown(statements: Iterable[Effects], total: Effects) -> frozenset[str]:
    acted = (effects.reads for effects in statements if not effects.inert)
    behind = (body.reads for body in total.defines.values())
    return frozenset(total.reads.difference(*acted, *behind))


def _timed(tree: ast.Module) -> Effects:
    """The body of ``%%timeit``, which runs as a function of its own."""
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    effects = body_effects(ast.FunctionDef("timed", arguments, list(tree.body), []))
    effects.dump = "\n".join(ast.dump(node) for node in tree.body)
    effects.calls = True
    return effects


def _sum(statements: Iterable[Effects]) -> Effects:
    """What statements do one after the other, the calls of functions that they define among them."""
    total = Effects()
    bound: set[str] = set()
    for effects in statements:
        total.merge(effects, bound)
        called = effects.reads & total.defines.keys()
        done: set[str] = set()
        while called - done:
            name = (called - done).pop()
            done.add(name)
            body = total.defines[name]
            called |= body.reads & total.defines.keys()
            total.merge(body, bound | effects.sure)
        bound = (bound | effects.sure) - effects.deletes
    total.sure = {name for name in bound if "\0" not in name}
    return total


def _is_foreign(magics: tuple[Magic, ...]) -> bool:
    return any(
        magic.kind == "cell" and magic.name in ("bash", "sh", "script", "writefile", "html") for magic in magics
    )


def _statement(node: ast.stmt, magics: tuple[Magic, ...], shared: Shared) -> Effects:
    effects = Effects(dump=ast.dump(node))
    walker = Walker(effects, shared=shared)
    walker.visit(node)
    effects.sure = {name for name in walker.bound if name in effects.binds or "\0" in name}
    for magic in magics:
        if magic.target and magic.line == node.lineno:
            effects.dump += f"|{magic.kind} {magic.name} {magic.body}"
            effects.calls = True
    return effects


def _add_environment_magics(total: Effects, magics: tuple[Magic, ...]) -> None:
    for magic in magics:
        if magic.kind == "line" and magic.name == "run" and "-i" in magic.body.split():
            total.calls = total.opaque = True
        if magic.kind == "line" and magic.name in ("env", "set_env") and magic.body:
            name, _, value = magic.body.replace("=", " ").partition(" ")
            (total.env_writes if value.strip() else total.env_reads).add(name)
        elif magic.kind == "line" and magic.name in ("cd", "pwd"):
            total.looks_around |= magic.name == "pwd" or is_relative(magic.body)
