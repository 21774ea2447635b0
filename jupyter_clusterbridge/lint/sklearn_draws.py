"""Whether a call of scikit-learn draws random numbers when it is given no ``random_state``."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import inspect
import re

from jupyter_clusterbridge.lint import sklearn_table
from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext


def draws_without_a_state(name: str, node: ast.Call, cell: CellContext) -> bool | None:
    """Whether the call draws with the arguments that it gets; None when only the signature speaks for it.

    Args:
        name: the qualified name of what is called, below ``sklearn``.
        node: the call.
        cell: where it stands.
    """
    function = name.rpartition(".")[2]
    if function in sklearn_table.ALWAYS:
        return not is_constant(argument(node, "shuffle"), False, cell)
    if function in sklearn_table.WHEN_SHUFFLED:
        return is_constant(argument(node, "shuffle"), True, cell)
    if function in sklearn_table.WITH_OPTION:
        options = sklearn_table.WITH_OPTION[function]
        return any(is_constant(argument(node, option), value, cell) for option, value in options)
    return None if _is_newer() and _takes_a_state(name) else False


def lacks_a_state(node: ast.Call, cell: CellContext) -> bool:
    """Whether the call gets no ``random_state``, or None as such."""
    state = argument(node, "random_state")
    return state is None or constant(state, cell) is None


@functools.cache
def _is_newer() -> bool:
    """Whether the scikit-learn beside us is newer than the table."""
    try:
        version = importlib.metadata.version("scikit-learn")
    except importlib.metadata.PackageNotFoundError:
        return False
    match = re.match(r"(\d+)\.(\d+)", version)
    return match is not None and (int(match[1]), int(match[2])) > sklearn_table.VERSION


@functools.cache
def _takes_a_state(name: str) -> bool:
    """Whether the installed object has the parameter; imports scikit-learn's module, which is trusted code."""
    module, _, function = name.rpartition(".")
    try:
        return "random_state" in inspect.signature(getattr(importlib.import_module(module), function)).parameters
    except (ImportError, AttributeError, TypeError, ValueError):
        return False
