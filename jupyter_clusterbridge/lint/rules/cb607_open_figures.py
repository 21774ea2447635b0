"""CB607: figures that a loop makes and never closes."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend

_MAKE = frozenset({"matplotlib.pyplot.figure", "matplotlib.pyplot.subplots"})
_ENDS = {"close", "show", "clf", "cla", "clear", "display", "figimage"}


class OpenFigures(Rule):
    """A loop makes a matplotlib figure in each pass, saves it, and closes none.

    ## What it does

    Reports `plt.figure()` and `plt.subplots()` in a loop that calls `savefig` and neither `plt.close`,
    `plt.show` nor `clf`.

    ## Why it matters on a cluster

    Each figure stays in memory until the cell ends, and in a script until the process does. A job that plots
    in every epoch grows by some megabytes each time, until its memory limit ends it.

    ## Bad example

    ```python
    import matplotlib.pyplot as plt

    for epoch in range(100):
        plt.figure()  # <-- here
        plt.plot([1, 2, 3])
        plt.savefig(f"epoch{epoch}.png")
    ```

    ## Good example

    ```python
    import matplotlib.pyplot as plt

    for epoch in range(100):
        figure = plt.figure()
        plt.plot([1, 2, 3])
        plt.savefig(f"epoch{epoch}.png")
        plt.close(figure)
    ```

    ## Remedy

    Call `plt.close(figure)` at the end of each pass.
    """

    code = "CB607"
    name = "open-figures"
    words = frozenset({"savefig"})
    calls = _MAKE

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at figures in loops."""
        loop = next(cell.within(ast.For, ast.While, ast.FunctionDef, ast.Lambda), None)
        if not isinstance(loop, (ast.For, ast.While)):
            return
        called = {
            inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            for inner in descend(loop)
            if isinstance(inner, ast.Call)
        }
        reused = any(keyword.arg == "num" for keyword in node.keywords) or (
            bool(node.args) and (cell.callee or "").endswith("figure")
        )
        if "savefig" in called and called.isdisjoint(_ENDS) and not reused:
            self.report(cell, node, "the loop makes a figure in each pass and closes none")
