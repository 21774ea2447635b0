"""One walk over a cell's tree in the order of evaluation, with handlers by node type.

All rules share the walk: it keeps parents, scopes and name bindings, and calls what each rule has registered
for a type of node. It does not recurse, so that a deep expression cannot end it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.scope import FunctionNames, NameRead, Scope, always_known, import_aliases, words

Handler = Callable[[ast.AST, CellContext], None]

_SKIPPED = words("""
    annotation asname attr conversion ctx id kind level module name n names op ops returns simple type_comment
    type_ignores type_params
""")
"""Fields that hold no node a rule asks about; annotations are not always evaluated."""

_ORDER: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Assign: ("value", "targets"),
    ast.AnnAssign: ("value", "target"),
    ast.AugAssign: ("value", "target"),
    ast.For: ("iter", "target", "body", "orelse"),
    ast.AsyncFor: ("iter", "target", "body", "orelse"),
    ast.NamedExpr: ("value", "target"),
    ast.ListComp: ("generators", "elt"),
    ast.SetComp: ("generators", "elt"),
    ast.GeneratorExp: ("generators", "elt"),
    ast.DictComp: ("generators", "key", "value"),
    ast.comprehension: ("iter", "target", "ifs"),
    ast.ClassDef: ("decorator_list", "bases", "keywords"),
    ast.FunctionDef: ("decorator_list", "args"),
    ast.AsyncFunctionDef: ("decorator_list", "args"),
    ast.Lambda: ("args",),
    ast.arguments: ("defaults", "kw_defaults"),
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BODIES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NAME_GUARDS = {"NameError", "Exception", "BaseException"}
_fields: dict[type[ast.AST], tuple[str, ...]] = dict(_ORDER)


class _Step(ast.AST):
    """Entries of the walk's stack that are no nodes of the tree."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.node = node


class _Leave(_Step):
    """The children of a node are done."""


class _Body(_Step):
    """Decorators and defaults are done; the body of a function or a class follows in its own scope."""


class _Close(_Step):
    """The innermost scope ends."""


_LEAVE = _Leave(ast.Pass())


def _children(node: ast.AST) -> list[ast.AST]:
    kind = type(node)
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(name for name in kind._fields if name not in _SKIPPED)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found if None not in found else [child for child in found if child is not None]


def walk_cell(cell: CellContext, handlers: Mapping[type[ast.AST], Sequence[Handler]]) -> None:
    """Walk the tree of one cell; afterwards ``cell.binds`` and ``cell.unbound`` are complete."""
    if cell.tree is None:
        return
    cell.scopes = [Scope(cell.tree)]
    cell.parents = []
    stack: list[ast.AST] = list(reversed(cell.tree.body))
    parents = cell.parents
    while stack:
        item = stack.pop()
        kind = item.__class__
        if kind is _Leave:
            parents.pop()
            continue
        if kind is _Body or kind is _Close:
            _step(item, cell, stack)
            continue
        early = _ENTER.get(kind)
        if early is not None:
            early(item, cell)
        found = handlers.get(kind)
        if found is not None:
            for handler in found:
                handler(item, cell)
        if kind is ast.Name or kind is ast.Constant:
            continue
        parents.append(item)
        stack.append(_LEAVE)
        if kind in _BODIES:
            stack.append(_Body(item))
        elif kind in _COMPREHENSIONS:
            cell.scopes.append(Scope(item))
            stack.append(_Close(item))
        children = _children(item)
        children.reverse()
        stack.extend(children)


def _step(step: ast.AST, cell: CellContext, stack: list[ast.AST]) -> None:
    if isinstance(step, _Close):
        _close_scope(cell)
    elif isinstance(step, _Body):
        node = step.node
        if not isinstance(node, ast.Lambda):
            assert isinstance(node, (*_FUNCTIONS, ast.ClassDef))
            bind(node.name, node.lineno, cell)
        scope = Scope(node, deferred=not isinstance(node, ast.ClassDef))
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            scope.binds.update(_parameters(node.args))
        cell.scopes.append(scope)
        stack.append(_Close(node))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        stack.extend(reversed(body))


def _parameters(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return [argument.arg for argument in every]


def bind(name: str, line: int, cell: CellContext, alias: str | None = None) -> None:
    """Note that the current scope binds a name; ``alias`` is what an import makes it stand for."""
    scope = cell.scopes[-1]
    if isinstance(scope.node, _COMPREHENSIONS):
        scope.binds.add(name)
        return
    if len(cell.scopes) == 1 or name in scope.outer:
        cell.binds.setdefault(name, line)
        if alias is not None:
            cell.notebook.aliases[name] = alias
        else:
            cell.notebook.aliases.pop(name, None)
            cell.notebook.constants.pop(name, None)
            cell.notebook.functions.pop(name, None)
        return
    scope.binds.add(name)
    if alias is not None:
        scope.aliases[name] = alias
    else:
        scope.aliases.pop(name, None)


def _close_scope(cell: CellContext) -> None:
    scope = cell.scopes.pop()
    outer = cell.scopes[-1]
    reads = _free(scope, scope.reads)
    nested = _free(scope, scope.nested)
    if len(cell.scopes) > 1:
        into = outer.nested if scope.deferred else outer.reads
        for name, line in reads.items():
            into.setdefault(name, line)
        for name, line in nested.items():
            outer.nested.setdefault(name, line)
        return
    if isinstance(scope.node, _FUNCTIONS):
        cell.notebook.functions[scope.node.name] = FunctionNames(
            frozenset(reads), frozenset(scope.calls & set(reads))
        )
    for name, line in reads.items():
        read_name(name, line, cell, deferred=scope.deferred)
    for name, line in nested.items():
        read_name(name, line, cell, deferred=True)


def _free(scope: Scope, reads: dict[str, int]) -> dict[str, int]:
    """The names that a scope reads from outside of it."""
    return {name: line for name, line in reads.items() if name not in scope.binds or name in scope.outer}


def read_name(name: str, line: int, cell: CellContext, *, via: str | None = None, deferred: bool = False) -> None:
    """Note a read at the cell's top level when nothing before has bound the name."""
    if name in cell.binds or name in cell.notebook.defined or always_known(name):
        return
    if not _guarded(cell):
        cell.unbound.append(NameRead(name, line, via, deferred))


def _guarded(cell: CellContext) -> bool:
    """Whether the visited node stands in a ``try`` that takes a missing name into account."""
    for node in cell.within(ast.Try):
        assert isinstance(node, ast.Try)
        for handler in node.handlers:
            if handler.type is None:
                return True
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            if any(isinstance(kind, ast.Name) and kind.id in _NAME_GUARDS for kind in kinds):
                return True
    return False


def _enter_name(node: ast.AST, cell: CellContext) -> None:
    assert isinstance(node, ast.Name)
    if node.ctx.__class__ is ast.Load:
        if len(cell.scopes) == 1:
            if node.id not in cell.binds:
                read_name(node.id, node.lineno, cell)
        else:
            _read_in_scope(node.id, node.lineno, cell)
    elif isinstance(node.ctx, ast.Store):
        target = cell.parents[-1] if cell.parents else None
        if isinstance(target, ast.AugAssign):
            _read_here(node.id, node.lineno, cell)
        if isinstance(target, ast.NamedExpr):
            _bind_walrus(node, cell)
        else:
            bind(node.id, node.lineno, cell)
        if isinstance(target, (ast.Assign, ast.AnnAssign)) and len(cell.scopes) == 1:
            _note_constant(node.id, target.value, cell)


def _read_here(name: str, line: int, cell: CellContext) -> None:
    if len(cell.scopes) == 1:
        read_name(name, line, cell)
    else:
        _read_in_scope(name, line, cell)


def _read_in_scope(name: str, line: int, cell: CellContext) -> None:
    reads = cell.scopes[-1].reads
    if name not in reads and not _guarded(cell):
        reads[name] = line


def _bind_walrus(node: ast.Name, cell: CellContext) -> None:
    """An assignment expression in a comprehension binds in the scope around it."""
    inner: list[Scope] = []
    while isinstance(cell.scopes[-1].node, _COMPREHENSIONS):
        inner.append(cell.scopes.pop())
        inner[-1].binds.add(node.id)
    bind(node.id, node.lineno, cell)
    cell.scopes.extend(reversed(inner))


def _note_constant(name: str, value: ast.expr | None, cell: CellContext) -> None:
    if isinstance(value, ast.Constant):
        cell.notebook.constants[name] = value.value


def _enter_import(node: ast.AST, cell: CellContext) -> None:
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    for name, target in import_aliases(node).items():
        bind(name, node.lineno, cell, alias=target)
    if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names):
        _opaque(cell)


def _opaque(cell: CellContext) -> None:
    if cell.notebook.opaque_from is None:
        cell.notebook.opaque_from = cell.cell.index


def _enter_call(node: ast.AST, cell: CellContext) -> None:
    assert isinstance(node, ast.Call)
    cell.callee = cell.resolve(node.func)
    if cell.callee in ("builtins.exec", "builtins.globals"):
        _opaque(cell)
    if not isinstance(node.func, ast.Name):
        return
    cell.scopes[-1].calls.add(node.func.id)
    if len(cell.scopes) == 1 and node.func.id in cell.notebook.functions:
        for name in _reached_names(node.func.id, cell):
            read_name(name, node.lineno, cell, via=node.func.id)


def _reached_names(function: str, cell: CellContext) -> list[str]:
    """Names from outside that a call of the function reads, also through the functions that it calls."""
    names: dict[str, None] = {}
    seen = {function}
    todo = [function]
    while todo:
        needs = cell.notebook.functions[todo.pop()]
        names.update(dict.fromkeys(sorted(needs.reads)))
        further = [name for name in sorted(needs.calls) if name in cell.notebook.functions and name not in seen]
        seen.update(further)
        todo += further
    return list(names)


def _enter_outer(node: ast.AST, cell: CellContext) -> None:
    assert isinstance(node, (ast.Global, ast.Nonlocal))
    if isinstance(node, ast.Global):
        cell.scopes[-1].outer.update(node.names)


def _enter_named(node: ast.AST, cell: CellContext) -> None:
    """Handlers and patterns bind a name that is a plain string in the tree."""
    name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
    if isinstance(name, str):
        bind(name, getattr(node, "lineno", 1), cell)
    elif isinstance(name, ast.Name):
        bind(name.id, name.lineno, cell)


_ENTER: dict[type[ast.AST], Handler] = {
    ast.Name: _enter_name,
    ast.Import: _enter_import,
    ast.ImportFrom: _enter_import,
    ast.Call: _enter_call,
    ast.Global: _enter_outer,
    ast.Nonlocal: _enter_outer,
    ast.ExceptHandler: _enter_named,
    ast.MatchAs: _enter_named,
    ast.MatchStar: _enter_named,
    ast.MatchMapping: _enter_named,
}
if hasattr(ast, "TypeAlias"):
    _ENTER[ast.TypeAlias] = _enter_named
