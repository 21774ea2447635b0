"""Small questions about calls and values that several rules ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.trees import descend

MISSING = object()
"""Stands for a value that no constant in the source gives."""


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """The argument with a keyword or at a position; None when the call does not give it."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is not None and position < len(call.args) and not has_star(call):
        return call.args[position]
    return None


def has_star(call: ast.Call) -> bool:
    """Whether the call passes ``*args`` or ``**kwargs``, so that what it gives cannot be seen."""
    return any(isinstance(value, ast.Starred) for value in call.args) or any(k.arg is None for k in call.keywords)


def constant(node: ast.expr | None, cell: CellContext) -> object:
    """The constant that an expression is, also through a name that a cell bound to one; else ``MISSING``."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, (int, float)) else MISSING
    if isinstance(node, ast.Name):
        return cell.notebook.constants.get(node.id, MISSING)
    return MISSING


def is_constant(node: ast.expr | None, value: object, cell: CellContext) -> bool:
    """Whether an expression is this very constant (``True`` is not ``1``)."""
    found = constant(node, cell)
    return type(found) is type(value) and found == value


def calls_in(node: ast.AST, cell: CellContext) -> Iterator[str]:
    """Qualified names of all calls within an expression."""
    for inner in descend(node):
        if isinstance(inner, ast.Call):
            name = cell.resolve(inner.func)
            if name is not None:
                yield name


def method(call: ast.Call) -> str | None:
    """The method's name when the call is ``something.method(...)``."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else None


def names_in(node: ast.AST) -> set[str]:
    """Names that an expression reads."""
    return {inner.id for inner in descend(node) if isinstance(inner, ast.Name)}


def base_name(node: ast.AST) -> str | None:
    """The name at the root of attributes and subscripts: ``df`` for ``df["a"].values``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
