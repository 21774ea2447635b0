"""Chains of methods, as in ``load(...).map(f).shuffle()``, and the names that hold what they give."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from jupyter_clusterbridge.lint.calls import base_name
from jupyter_clusterbridge.lint.context import CellContext


def methods_after(node: ast.AST, cell: CellContext) -> list[str]:
    """Attributes and methods asked of the result of the node that is visited, in order.

    For ``frame.sort_values("a").groupby("b").first()`` and its first call: ``["groupby", "first"]``.
    """
    found: list[str] = []
    inner: ast.AST = node
    for parent in reversed(cell.parents):
        if isinstance(parent, ast.Attribute) and parent.value is inner:
            found.append(parent.attr)
        elif not (
            (isinstance(parent, ast.Call) and parent.func is inner)
            or (isinstance(parent, ast.Subscript) and parent.value is inner)
        ):
            break
        inner = parent
    return found


def methods_before(node: ast.expr) -> list[str]:
    """Attributes and methods that stand before an expression in its chain, the nearest first."""
    found: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            found.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Subscript, ast.Await)):
            node = node.value
        else:
            return found


def chain_root(node: ast.expr) -> ast.Call | ast.Name | None:
    """The first call of a chain, or the name at its root where there is no call.

    ``load("x")`` for ``load("x")["train"].map(f)``, and ``data.map(f)`` for ``data.map(f).shuffle()``.
    """
    first: ast.Call | None = None
    while True:
        if isinstance(node, ast.Call):
            first = node
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript, ast.Await)):
            node = node.value
        else:
            return first or (node if isinstance(node, ast.Name) else None)


class Origins:
    """Names of the notebook whose value began as one of certain calls.

    Args:
        is_source: whether a qualified name is a function that gives such a value.
        leaving: methods and attributes whose result is something else.
    """

    def __init__(self, is_source: Callable[[str], bool], leaving: Collection[str] = ()) -> None:
        self._is_source = is_source
        self._leaving = frozenset(leaving)
        self._names: set[str] = set()
        self._pending: tuple[ast.Assign, bool] | None = None

    def note(self, node: ast.Assign, cell: CellContext) -> None:
        """Follow one assignment; what stands on its right side still sees the names as they were."""
        held = self.holds(node.value, cell)
        self._settle()
        self._pending = (node, held)

    def _settle(self) -> None:
        if self._pending is None:
            return
        node, held = self._pending
        self._pending = None
        for target in node.targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name):
                    (self._names.add if held else self._names.discard)(name.id)

    def holds(self, node: ast.expr, cell: CellContext) -> bool:
        """Whether an expression is such a value, or a method's result on one."""
        if self._pending is not None and self._pending[0] not in cell.parents:
            self._settle()
        if self._leaving and not self._leaving.isdisjoint(methods_before(node)):
            return False
        root = chain_root(node)
        if isinstance(root, ast.Call):
            called = cell.resolve(root.func)
            if called is not None:
                return self._is_source(called)
            name = base_name(root.func)
            return name is not None and name in self._names
        return root is not None and root.id in self._names
