"""Which names a walk over a cell binds and reads, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.scope import FunctionNames, NameRead, Scope, always_known, import_aliases

Handler = Callable[[ast.AST, CellContext], None]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NAME_GUARDS = {"NameError", "Exception", "BaseException"}


def parameters(arguments: ast.arguments) -> list[str]:
    """Names of all parameters of a function."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return [argument.arg for argument in every]


def bind(name: str, line: int, cell: CellContext, alias: str | None = None) -> None:
    """Note that the current scope binds a name; ``alias`` is what an import makes it stand for."""
    scope = cell.scopes[-1]
    if isinstance(scope.node, COMPREHENSIONS):
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


def close_scope(cell: CellContext) -> None:
    """Leave the innermost scope and hand what it reads from outside to the one around it."""
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
    if isinstance(scope.node, FUNCTIONS):
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
    if not cell.has_try:
        return False
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
            if node.id not in cell.binds and node.id not in cell.notebook.defined:
                read_name(node.id, node.lineno, cell)
        elif node.id not in cell.scopes[-1].reads:
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
    while isinstance(cell.scopes[-1].node, COMPREHENSIONS):
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


ENTER: dict[type[ast.AST], Handler] = {
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
    ENTER[ast.TypeAlias] = _enter_named
