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
_fields: dict[type[ast.AST], tuple[str, ...]] = dict(_ORDER)
"""Fields with the children of each type of node, in the order of evaluation."""


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
_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue})
_SPECIAL = frozenset({*_BODIES, *COMPREHENSIONS, *_BRANCHES})


def _children(node: ast.AST) -> list[ast.AST]:
    """The nodes below one, in the order of evaluation."""
    found: list[ast.AST] = []
    kind = node.__class__
    for name in _fields[kind] if kind in _fields else _fields_of(kind):
        value = getattr(node, name, None)
        if value.__class__ is not list:
            if value is not None:
                found.append(value)
        elif value:
            # an entry is None for a default that is not given, and for the key of ** in a dictionary
            found += value if None not in value else [child for child in value if child is not None]
    return found


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _fields[kind] = tuple(name for name in kind._fields if name not in _SKIPPED)
    return fields


Handlers = Mapping[type[ast.AST], Sequence[Handler]]


def with_bindings(handlers: Handlers) -> Handlers:
    """What a walk calls for each type of node: what follows names and scopes, then what rules have asked for."""
    kinds = {*ENTER, *handlers}
    return {kind: ([ENTER[kind]] if kind in ENTER else []) + [*handlers.get(kind, ())] for kind in kinds}


def walk_cell(cell: CellContext, alive: Handlers, dead: Handlers) -> None:
    """Walk the tree of one cell; afterwards ``cell.binds`` and ``cell.unbound`` are complete.

    Args:
        cell: the cell.
        alive: what to call for each type of node, from :func:`with_bindings`.
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
        for handler in handlers.get(kind, ()):
            handler(item, cell)
        if kind in _LEAVES:
            continue
        parents.append(item)
        if kind in _SPECIAL:
            stack.append(_LEAVE)
            _before_children(item, cell, stack)
            dying = kind in _BRANCHES and handlers is alive and is_dead(item)
            stack += (_children_of_dead(item) if dying else _children(item))[::-1]
            continue
        children = _children(item)
        # most nodes have nothing but names and constants below them, which need no turn of their own
        for done, child in enumerate(children):
            kind = child.__class__
            if kind not in _LEAVES:
                stack.append(_LEAVE)
                stack += children[: done - 1 : -1] if done else children[::-1]
                break
            for handler in handlers.get(kind, ()):
                handler(child, cell)
        else:
            parents.pop()


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
