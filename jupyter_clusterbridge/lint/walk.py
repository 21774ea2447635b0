"""One walk over a cell's tree in the order of evaluation, with handlers by node type.

All rules share the walk: it keeps parents, scopes and name bindings, and calls what each rule has registered
for a type of node. It does not recurse, so that a deep expression cannot end it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from jupyter_clusterbridge.lint.bindings import (
    COMPREHENSIONS,
    ENTER,
    FUNCTIONS,
    Handler,
    bind,
    close_scope,
    parameters,
)
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.flow import is_dead
from jupyter_clusterbridge.lint.scope import Scope, words

_SKIPPED = words("""
    annotation arg asname attr conversion ctx id kind kwd_attrs level module name n names op ops rest returns
    simple str type_comment type_ignores type_params
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
    ast.MatchSingleton: (),
    ast.Constant: (),
}
_BRANCHES = (ast.If, ast.While)
_BODIES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_fields: dict[type[ast.AST], tuple[str, ...]] = {kind: fields[::-1] for kind, fields in _ORDER.items()}
"""Fields with the children of each type of node, the last to be visited first."""


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


class _Dead(_Step):
    """The body of a statement that never runs begins or ends."""


_LEAVE = _Leave(ast.Pass())
_STEPS = frozenset({_Body, _Close, _Dead})
_SPECIAL = frozenset({*_BODIES, *COMPREHENSIONS, *_BRANCHES})


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _fields[kind] = tuple(name for name in reversed(kind._fields) if name not in _SKIPPED)
    return fields


Handlers = Mapping[type[ast.AST], Sequence[Handler]]


def walk_cell(cell: CellContext, alive: Handlers, dead: Handlers) -> None:
    """Walk the tree of one cell; afterwards ``cell.binds`` and ``cell.unbound`` are complete.

    Args:
        cell: the cell.
        alive: what to call for each type of node.
        dead: the same for code that never runs (``if False:``), which binds no names either.
    """
    if cell.tree is None:
        return
    cell.scopes = [Scope(cell.tree)]
    cell.parents = []
    handlers = alive
    stack: list[ast.AST] = [*reversed(cell.tree.body)]
    parents = cell.parents
    while stack:
        item = stack.pop()
        if item is _LEAVE:
            parents.pop()
            continue
        kind = item.__class__
        if kind in _STEPS:
            if kind is _Dead:
                handlers = dead if handlers is alive else alive
            _step(item, cell, stack)
            continue
        early = ENTER.get(kind)
        if early is not None:
            early(item, cell)
        for handler in handlers.get(kind, ()):
            handler(item, cell)
        fields = _fields[kind] if kind in _fields else _fields_of(kind)
        if not fields:
            continue
        parents.append(item)
        stack.append(_LEAVE)
        if kind in _SPECIAL:
            _before_children(item, cell, stack)
            if kind in _BRANCHES and handlers is alive and is_dead(item):
                stack += _children_of_dead(item)[::-1]
                continue
        for name in fields:
            value = getattr(item, name, None)
            if value.__class__ is not list:
                if value is not None:
                    stack.append(value)
            elif value:
                # an entry is None for a default that is not given, and for the key of ** in a dictionary
                stack += value[::-1] if None not in value else [child for child in reversed(value) if child]


def _before_children(node: ast.AST, cell: CellContext, stack: list[ast.AST]) -> None:
    if isinstance(node, _BODIES):
        stack.append(_Body(node))
    elif isinstance(node, COMPREHENSIONS):
        cell.scopes.append(Scope(node))
        stack.append(_Close(node))


def _children_of_dead(node: ast.AST) -> list[ast.AST]:
    assert isinstance(node, (ast.If, ast.While))
    return [node.test, _Dead(node), *node.body, _Dead(node), *node.orelse]


def _enter_or_leave_dead(step: _Dead, cell: CellContext) -> None:
    if cell.scopes[-1].node is step.node:
        cell.scopes.pop()
    else:
        cell.scopes.append(Scope(step.node))


def _step(step: ast.AST, cell: CellContext, stack: list[ast.AST]) -> None:
    if isinstance(step, _Close):
        close_scope(cell)
    elif isinstance(step, _Dead):
        _enter_or_leave_dead(step, cell)
    elif isinstance(step, _Body):
        node = step.node
        if not isinstance(node, ast.Lambda):
            assert isinstance(node, (*FUNCTIONS, ast.ClassDef))
            bind(node.name, node.lineno, cell)
        scope = Scope(node, deferred=not isinstance(node, ast.ClassDef))
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            scope.binds.update(parameters(node.args))
        cell.scopes.append(scope)
        stack.append(_Close(node))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        stack.extend(reversed(body))
