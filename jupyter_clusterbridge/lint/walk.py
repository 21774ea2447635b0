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
_BRANCHES = (ast.If, ast.While)
_BODIES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
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


class _Dead(_Step):
    """The body of a statement that never runs begins or ends."""


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
    stack: list[ast.AST] = list(reversed(cell.tree.body))
    parents = cell.parents
    while stack:
        item = stack.pop()
        kind = item.__class__
        if kind is _Leave:
            parents.pop()
            continue
        if kind is _Dead:
            handlers = dead if handlers is alive else alive
            _enter_or_leave_dead(item, cell)
            continue
        if kind is _Body or kind is _Close:
            _step(item, cell, stack)
            continue
        early = ENTER.get(kind)
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
        elif kind in COMPREHENSIONS:
            cell.scopes.append(Scope(item))
            stack.append(_Close(item))
        if kind in _BRANCHES and handlers is alive and is_dead(item):
            children = _children_of_dead(item)
        else:
            children = _children(item)
        children.reverse()
        stack.extend(children)


def _children_of_dead(node: ast.AST) -> list[ast.AST]:
    assert isinstance(node, (ast.If, ast.While))
    return [node.test, _Dead(node), *node.body, _Dead(node), *node.orelse]


def _enter_or_leave_dead(step: ast.AST, cell: CellContext) -> None:
    assert isinstance(step, _Dead)
    if cell.scopes[-1].node is step.node:
        cell.scopes.pop()
    else:
        cell.scopes.append(Scope(step.node))


def _step(step: ast.AST, cell: CellContext, stack: list[ast.AST]) -> None:
    if isinstance(step, _Close):
        close_scope(cell)
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
