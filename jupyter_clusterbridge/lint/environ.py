"""Which environment variable a statement sets."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext


def set_variable(node: ast.AST, cell: CellContext) -> str | None:
    """The variable that ``os.environ[...] = ...``, ``os.environ.setdefault`` or ``os.putenv`` sets, or None."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and cell.resolve(target.value) == "os.environ":
            return _text(target.slice)
    elif isinstance(node, ast.Call) and node.args and cell.callee in ("os.environ.setdefault", "os.putenv"):
        return _text(node.args[0])
    return None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
