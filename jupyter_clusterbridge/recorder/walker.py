"""The walk over the statements of a cell, in the order of evaluation."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.calls import (
    PURE_CALLS,
    RUNS_TEXT,
    SHELL_RUNS,
    asks_for_folder,
    call_changes,
    env_access,
    env_updates,
    parts_of,
    root_name,
    seeded_streams,
    waits,
)
from jupyter_clusterbridge.recorder.effects import Effects, mark
from jupyter_clusterbridge.recorder.flow import FlowWalker
from jupyter_clusterbridge.recorder.parts import chain_of, item_of
from jupyter_clusterbridge.recorder.scopes import LocalNames, inner_functions, target_names
from jupyter_clusterbridge.runtime.source import parse_cell


@dataclass
class Shared:
    """What the statements of a cell know of those before."""

    aliases: dict[str, set[str]] = field(default_factory=dict)
    """Names bound in this cell, with the older names whose objects they may be or hold."""
    constants: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that hold texts which the cell spells out."""
    imported: set[str] = field(default_factory=set)
    """Names of modules that are imported."""


class Walker(FlowWalker):
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

    def _ask(self, name: str) -> None:
        self.out.asks |= (self.aliases.get(name, set()) | {name}) - self.bound - self.hidden

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
                self.out.defines[target.id] = body_effects(node.value)

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
        for name in env_updates(node):
            self._variable(name, loads=False)
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
        for asked in changes.asks:
            self._ask(asked)
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
            self.out.defines[node.name] = body_effects(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.out.merge(body_effects(node), self.bound | self.hidden)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for expression in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(expression)
        body = Effects()
        inner = Walker(body, self.hidden)
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


def _writes_env(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name in ("setdefault", "pop", "putenv", "unsetenv")


def body_effects(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Effects:
    """What a function's body does to the notebook's namespace when it is called."""
    body: list[ast.AST] = list(node.body) if not isinstance(node, ast.Lambda) else [node.body]
    scope = LocalNames()
    for part in body:
        scope.visit(part)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own = {argument.arg for argument in every if argument is not None}
    out = Effects()
    walker = Walker(out, frozenset(own | scope.names) - scope.globals)
    for part in body:
        walker.visit(part)
    for inner in inner_functions(body):
        out.merge(body_effects(inner), walker.hidden)
    return out
