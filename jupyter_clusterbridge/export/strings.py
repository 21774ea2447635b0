"""Folding expressions to the strings that they can be: literals, joined paths and names bound to either."""

from __future__ import annotations

import ast
import os
import posixpath
from collections.abc import Iterable

_PATH_CALLS = {"Path", "PurePath", "PosixPath", "PurePosixPath", "str", "fspath", "open_code"}
_SAME_CALLS = {"resolve", "absolute", "expanduser", "as_posix", "abspath", "normpath", "realpath", "strip"}
_CWD_CALLS = {"getcwd", "cwd"}
_JOIN_CALLS = {"join", "joinpath"}
_MOST = 16

Values = list[str]
Names = dict[str, Values]


def callee(node: ast.Call) -> str:
    """Last part of the name that is called: ``read_csv`` for ``pd.read_csv(...)``."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def fold(node: ast.expr | None, names: Names) -> Values:
    """All strings that an expression can be, as far as the text tells; empty when it does not tell.

    >>> tree = ast.parse("Path('data') / name", mode="eval")
    >>> fold(tree.body, {"name": ["a.csv", "b.csv"]})
    ['data/a.csv', 'data/b.csv']
    """
    if isinstance(node, ast.Constant):
        return [str(node.value)] if isinstance(node.value, (str, int)) else []
    if isinstance(node, ast.Name):
        return names.get(node.id, [])
    if isinstance(node, ast.BinOp):
        return _fold_operator(node, names)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return _product([fold(part, names) for part in parts], "".join)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [value for item in node.elts for value in fold(item, names)][:_MOST]
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        return [posixpath.dirname(value) or "." for value in fold(node.value, names)]
    if isinstance(node, ast.Call):
        return _fold_call(node, names)
    return []


def bind_names(tree: ast.AST, names: Names) -> None:
    """Add what names are bound to by assignments, loops over literals and defaults of arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(target, node.value, names)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            _bind(node.target, node.value, names)
        elif isinstance(node, (ast.For, ast.comprehension)):
            _bind(node.target, node.iter, names)
        elif isinstance(node, ast.arguments):
            pairs = zip(reversed(node.args), reversed(node.defaults), strict=False)
            for argument, default in pairs:
                _bind(ast.Name(argument.arg), default, names)


def _bind(target: ast.expr, value: ast.expr | None, names: Names) -> None:
    if isinstance(target, ast.Name) and value is not None:
        known = names.setdefault(target.id, [])
        known.extend(text for text in fold(value, names) if text not in known and len(known) < _MOST)


def _fold_operator(node: ast.BinOp, names: Names) -> Values:
    left, right = fold(node.left, names), fold(node.right, names)
    if isinstance(node.op, ast.Div):
        return _product([left, right], _join)
    if isinstance(node.op, ast.Add):
        return _product([left, right], "".join)
    return []


def _fold_call(node: ast.Call, names: Names) -> Values:
    name = callee(node)
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    arguments = [fold(argument, names) for argument in node.args]
    if name in _CWD_CALLS:
        return ["."]
    if name in _PATH_CALLS:
        return _product(arguments, _join) if arguments else ["."]
    if name in _JOIN_CALLS:
        own = fold(receiver, names) if receiver is not None and name == "joinpath" else []
        return _product([own, *arguments] if own else arguments, _join)
    if name in _SAME_CALLS:
        return arguments[0] if arguments else fold(receiver, names)
    return []


def _join(parts: Iterable[str]) -> str:
    return os.path.normpath(posixpath.join(*parts)).replace(os.sep, "/")


def _product(options: list[Values], combine: object) -> Values:
    """Every combination, or nothing when one part is unknown or there are too many."""
    combinations: list[list[str]] = [[]]
    for values in options:
        combinations = [[*head, value] for head in combinations for value in values]
        if not combinations or len(combinations) > _MOST:
            return []
    assert callable(combine)
    return [combine(parts) for parts in combinations]
