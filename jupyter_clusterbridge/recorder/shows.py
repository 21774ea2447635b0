"""Cells that do no more with a widget than to show it."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.runtime.source import parse_cell

_SHOWS = frozenset(
    {"display", "VBox", "HBox", "Box", "GridBox", "Tab", "Accordion", "jslink", "jsdlink", "clear_output"}
)
_HARMLESS_PARTS = frozenset(
    {"observe", "unobserve", "on_click", "layout", "style", "description", "disabled", "close"}
)


def only_shows(source: str, names: set[str]) -> bool:
    """Whether a cell does no more with widgets than to show or arrange them."""
    tree = parse_cell(source).tree
    if tree is None:
        return False
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    shown: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Name, ast.Tuple)):
            shown.update(ast.walk(node.value))
        elif isinstance(node, ast.Attribute) and node.attr in _HARMLESS_PARTS:
            shown.add(node.value)
        elif isinstance(node, ast.Call) and _called(node.func) in _SHOWS:
            shown.update(part for part in ast.walk(node) if not isinstance(part, ast.Attribute))
            read = [part.value for part in ast.walk(node) if isinstance(part, ast.Attribute)]
            shown.difference_update(read)
    return bool(uses) and all(use in shown for use in uses)


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
