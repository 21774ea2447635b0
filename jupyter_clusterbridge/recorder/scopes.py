"""Names of scopes inside a cell: functions, comprehensions and their targets."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def target_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """All names in assignment targets."""
    return frozenset(n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


class LocalNames(ast.NodeVisitor):
    """Collects what a function body binds in its own scope, and what it declares as global."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.globals: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.names.add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def _inner(self, node: ast.AST) -> None:
        self.names.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _inner

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)


def inner_functions(body: Iterable[ast.AST]) -> Iterable[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions defined directly in a body, also below its control flow and in its classes."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif not isinstance(node, ast.expr):
            yield from inner_functions(ast.iter_child_nodes(node))
