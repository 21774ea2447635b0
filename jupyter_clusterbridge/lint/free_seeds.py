"""Seeds that a fix may write: where one seed does no harm, and no seed twice for one function."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import set_argument
from jupyter_clusterbridge.model.findings import Fix

_REPEATS = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda,
)  # fmt: skip


class FreeSeeds:
    """The seeds that a notebook has for each function, and the next one that is free.

    Two draws that were independent must stay so: with one seed for both, a training and a test set that are
    generated one after the other would be the same rows. What runs in each pass of a loop or in a function gets
    no seed at all, since every pass would draw the same numbers.
    """

    def __init__(self) -> None:
        self._used: dict[str, set[int]] = {}

    def note(self, function: str, seed: ast.expr | None, cell: CellContext) -> None:
        """Keep a seed that the source gives a function."""
        value = constant(seed, cell)
        if isinstance(value, int):
            self._used.setdefault(function, set()).add(value)

    def fix(self, function: str, argument: str, call: ast.Call, cell: CellContext) -> Fix | None:
        """Give a call the first free seed; None where :func:`runs_often` was true when it was visited."""
        used = self._used.get(function, set())
        seed = next(number for number in range(len(used) + 1) if number not in used)
        return set_argument(call, argument, str(seed), cell)


def runs_often(cell: CellContext) -> bool:
    """Whether the visited node may run more than once in one run of its cell."""
    return next(cell.within(*_REPEATS), None) is not None
