"""What a cell reads, binds and changes, from its syntax tree alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.calls import (
    PURE_CALLS,
    RUNS_TEXT,
    SHELL_RUNS,
    asks_for_folder,
    call_changes,
    env_access,
    is_relative,
    parts_of,
    root_name,
    seeded_streams,
    waits,
)
from jupyter_clusterbridge.recorder.effects import Effects, mark
from jupyter_clusterbridge.recorder.overwrites import overwritten
from jupyter_clusterbridge.recorder.parts import PartWalker, chain_of, item_of
from jupyter_clusterbridge.recorder.scopes import LocalNames, inner_functions, target_names
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
    return CellNames(key, statements, total, parsed.magics, overwrites)


def _timed(tree: ast.Module) -> Effects:
    """The body of ``%%timeit``, which runs as a function of its own."""
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    effects = _body_effects(ast.FunctionDef("timed", arguments, list(tree.body), []))
    effects.dump = "\n".join(ast.dump(node) for node in tree.body)
    effects.calls = True
    return effects


@dataclass
class Shared:
    """What the statements of a cell know of those before."""

    aliases: dict[str, set[str]] = field(default_factory=dict)
    """Names bound in this cell, with the older names whose objects they may be or hold."""
    constants: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that hold texts which the cell spells out."""
    imported: set[str] = field(default_factory=set)
    """Names of modules that are imported."""


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
    walker = _Walker(effects, shared=shared)
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


class _Walker(PartWalker):
    """Walks in the order of evaluation and keeps what is bound on every path so far."""

    def __init__(self, out: Effects, hidden: frozenset[str] = frozenset(), shared: Shared | None = None) -> None:
        shared = shared or Shared()
        self.out = out
        self.bound = set()
        self.hidden = hidden
        self.aliases = shared.aliases
        self.constants = shared.constants
        self.imported = shared.imported

    # names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id)
            self._read_whole(node.id)
        elif isinstance(node.ctx, ast.Store):
            self._bind(node.id)
        elif node.id not in self.hidden:
            self._read(node.id)
            self._read_whole(node.id)
            self.out.deletes.add(node.id)
            self.bound.discard(node.id)

    def _read(self, name: str) -> None:
        if name not in self.bound and name not in self.hidden:
            self.out.reads.add(name)

    def _bind(self, name: str) -> None:
        if name not in self.hidden:
            self.out.binds.add(name)
            self.out.deletes.discard(name)
            self.bound.add(name)
        self.aliases.pop(name, None)
        self.constants.pop(name, None)
        self.imported.discard(name)

    def _alias(self, target: ast.expr, value: ast.expr) -> None:
        """After ``target = value``: what is done to the one may be done to the other's object."""
        roots = {name for part in parts_of(value) if (name := root_name(part)) is not None}
        for name in [part.id for part in parts_of(target) if isinstance(part, ast.Name)]:
            found = {older for root in roots for older in (root, *self.aliases.get(root, ()))} - {name}
            if found:
                self.aliases[name] = found

    def _store(self, name: str | None, fit: bool = False) -> None:
        for older in self.aliases.get(name or "", ()):
            self._touch(older)
        if name is None or name in self.bound or name in self.hidden:
            return
        if fit and name not in self.out.stores:
            self.out.fits.add(name)
        elif not fit:
            self.out.fits.discard(name)
        self.out.stores.add(name)

    def _touch(self, name: str | None) -> None:
        self.out.touches |= self.aliases.get(name or "", set()) - self.bound - self.hidden
        if name is not None and name not in self.bound and name not in self.hidden:
            self.out.touches.add(name)

    def _iterate(self, node: ast.AST) -> None:
        """A value is gone through."""
        name = (
            root_name(node) if isinstance(node, ast.Starred) else node.id if isinstance(node, ast.Name) else None
        )
        if name is not None and name not in self.bound and name not in self.hidden:
            self.out.iterates.add(name)

    def _run_text(self, node: ast.Call) -> None:
        """Code that a call runs in the notebook's names: as it is written where it is, unknown otherwise."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in RUNS_TEXT and method not in SHELL_RUNS:
            return
        text = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
        parsed = parse_cell(text) if isinstance(text, str) and name in ("exec", "eval") else None
        if parsed is None or parsed.tree is None:
            self.out.opaque = True
            self.out.texts |= (
                {one.id for one in node.args[:1] if isinstance(one, ast.Name)} - self.bound - self.hidden
            )
            return
        for statement in parsed.tree.body:
            self.visit(statement)

    # stores into objects

    def visit_Attribute(self, node: ast.Attribute) -> None:
        loads = isinstance(node.ctx, ast.Load)
        if not loads:
            self._store(root_name(node))
        found = chain_of(node)
        if found is None:
            self.visit(node.value)
            return
        self._read(found[0])
        if loads:
            self._read_chain(*found)
        else:
            self._store_chain(*found)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        loads = isinstance(node.ctx, ast.Load)
        name = env_access(node)
        if name is not None:
            self._variable(name, loads)
        elif not loads:
            self._store(root_name(node))
            self._update_chain(node.value)
        self.visit(node.slice)
        if not self._item(node, loads):
            self.visit(node.value)

    def _variable(self, name: str, loads: bool) -> None:
        if not loads:
            self.out.env_writes.add(name)
            self.bound.add(mark("", name))
        elif mark("", name) not in self.bound:
            self.out.env_reads.add(name)

    def _item(self, node: ast.Subscript, loads: bool) -> bool:
        found = item_of(node, self.constants)
        if found is None:
            if loads and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name):
                self._read(node.value.id)
                if self._visible(node.value.id):
                    self.out.keys.add((node.value.id, node.slice.id))
                return True
            return False
        name, labels, every_row = found
        self._read(name)
        if loads:
            self._read_labels(name, labels)
        else:
            self._store_labels(name, labels, every_row, node.ctx)
        return True

    # assignments

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                self._iterate(node.value)
            self.visit(target)
            self._alias(target, node.value)
            self._remember(target, node.value)
            if isinstance(node.value, ast.Lambda) and isinstance(target, ast.Name):
                self.out.defines[target.id] = _body_effects(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id)
            self._read_whole(node.target.id)
        elif isinstance(node.target, ast.Subscript):
            variable = env_access(node.target)
            if variable is not None:
                self._variable(variable, loads=True)
            found = item_of(node.target, self.constants)
            if found is not None:
                self._read_labels(*found[:2])
        elif (chain := chain_of(node.target)) is not None:
            self._read_chain(*chain)
        self.visit(node.value)
        self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target.id)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._bind(name)
            self.out.imports.add(name)
            self.imported.add(name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name != "*":
                self._bind(alias.asname or alias.name)
        self.out.calls |= any(alias.name == "*" for alias in node.names)

    # calls

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            only = node.args[0]
            if isinstance(only, ast.Name):  # of a frame the rows alone, whatever its columns
                self._read(node.func.id)
                self._read(only.id)
                self._read_labels(only.id, ("index",))
                return
        self.generic_visit(node)
        name = env_access(node)
        if name is not None:
            self._variable(name, not _writes_env(node))
            return
        if isinstance(node.func, ast.Name) and node.func.id in PURE_CALLS:
            for argument in node.args:
                self._iterate(argument)
            return
        self.out.calls = True
        self.out.looks_around |= asks_for_folder(node)
        self._run_text(node)
        self.out.seeds |= seeded_streams(node)
        changes = call_changes(node)
        if isinstance(node.func, ast.Attribute) and changes.stores:
            self._update_chain(node.func.value)
        for changed in changes.stores:
            self._store(changed)
        for changed in changes.fits:
            self._store(changed, fit=True)
        for touched in changes.touches:
            self._touch(touched)
        self.out.joins |= waits(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("eval", "train"):
            self.out.modes |= {root_name(node.func.value) or ""} - self.bound - self.hidden

    def visit_Starred(self, node: ast.Starred) -> None:
        if isinstance(node.ctx, ast.Load):
            self._iterate(node.value)
        self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operation, value in zip(node.ops, node.comparators, strict=True):
            if isinstance(operation, (ast.In, ast.NotIn)):
                self._iterate(value)
        self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> None:
        self.out.calls = self.out.joins = True
        self.generic_visit(node)

    # scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for expression in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if expression is not None:
                self.visit(expression)
        self.out.calls |= bool(node.decorator_list)
        self._bind(node.name)
        if node.name not in self.hidden:
            self.out.defines[node.name] = _body_effects(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.out.merge(_body_effects(node), self.bound | self.hidden)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for expression in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(expression)
        body = Effects()
        inner = _Walker(body, self.hidden)
        for statement in node.body:
            inner.visit(statement)
        methods = Effects()
        for effects in body.defines.values():
            methods.merge(effects)
        body.binds, body.defines, body.deletes = set(), {}, set()
        self.out.merge(body, self.bound)
        self._bind(node.name)
        if node.name not in self.hidden:
            self.out.defines[node.name] = methods

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        for generator in node.generators:
            self._iterate(generator.iter)
        outer = self.hidden
        self.hidden = outer | target_names(generator.target for generator in node.generators)
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.hidden = outer

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    # control flow

    def _branches(self, *blocks: Iterable[ast.AST]) -> None:
        start = set(self.bound)
        ends: list[set[str]] = []
        for block in blocks:
            self.bound = set(start)
            last: ast.AST | None = None
            for last in block:
                self.visit(last)
            if not isinstance(last, (ast.Raise, ast.Return, ast.Continue, ast.Break)):
                ends.append(self.bound)
        self.bound = set.intersection(*ends) if ends else start

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branches(node.body, node.orelse)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._touch(root_name(node.iter))
        self._iterate(node.iter)
        self.visit(node.target)
        self._alias(node.target, node.iter)
        self._remember_loop(node)
        for part in (*node.body, *node.orelse):
            self.visit(part)
        self._after_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self.visit_For(node)

    def _try(self, node: ast.Try) -> None:
        self._branches([*node.body, *node.orelse], *([handler] for handler in node.handlers))
        for statement in node.finalbody:
            self.visit(statement)

    visit_Try = visit_TryStar = _try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        outer = self.hidden
        self.hidden = outer | ({node.name} if node.name else set())
        for statement in node.body:
            self.visit(statement)
        self.hidden = outer
        if node.body and isinstance(node.body[-1], (ast.Raise, ast.Return, ast.Continue, ast.Break)):
            self.bound |= self.out.binds  # this path does not come out, so it must not weaken the others

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._branches(*([case] for case in node.cases), [])

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.generic_visit(node)
        if node.name:
            self._bind(node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest:
            self._bind(node.rest)


def _writes_env(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name in ("setdefault", "pop", "putenv", "unsetenv")


def _body_effects(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Effects:
    """What a function's body does to the notebook's namespace when it is called."""
    body: list[ast.AST] = list(node.body) if not isinstance(node, ast.Lambda) else [node.body]
    scope = LocalNames()
    for part in body:
        scope.visit(part)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own = {argument.arg for argument in every if argument is not None}
    out = Effects()
    walker = _Walker(out, frozenset(own | scope.names) - scope.globals)
    for part in body:
        walker.visit(part)
    for inner in inner_functions(body):
        out.merge(_body_effects(inner), walker.hidden)
    return out
