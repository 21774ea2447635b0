"""CB507: output that is drawn anew in each turn of a loop."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import LOOPS, trains
from jupyter_clusterbridge.model.findings import Severity

_CLEARS = frozenset({"IPython.display.clear_output", "IPython.core.display.clear_output"})
_SHOWS = frozenset({"IPython.display.display", "IPython.core.display.display", "builtins.display"})


class DisplayLoop(Rule):
    """A loop draws its output anew in each turn, for somebody who watches.

    ## What it does

    Reports, as information, `clear_output` in a loop, and `display(...)` in a loop that trains or has no
    end; once for each loop.

    ## Why it matters on a cluster

    Nobody watches. The picture of each step is sent and stored, which makes the executed notebook large, and
    `clear_output` wipes the lines that would have said what went wrong.

    ## Bad example

    ```python
    from IPython.display import clear_output

    for epoch in range(100):
        clear_output(wait=True)  # <-- here
        print(epoch)
    ```

    ## Good example

    ```python
    history = []
    for epoch in range(100):
        history.append(epoch)
        print(epoch)
    ```

    ## Remedy

    Print one line a step, or log the values (`metrics`, TensorBoard) and draw them once after the loop.
    """

    code = "CB507"
    name = "display-loop"
    severity = Severity.INFO
    words = frozenset({"clear_output", "display("})
    calls = _CLEARS | _SHOWS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[int] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what a loop shows."""
        loop = next(cell.within(*LOOPS, ast.FunctionDef, ast.Lambda), None)
        if not isinstance(loop, LOOPS) or id(loop) in self._seen:
            return
        endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
        if cell.callee in _SHOWS and not endless and not trains(loop.body):
            return
        shown = (cell.callee or "").rpartition(".")[2]
        if self.report(cell, node, f"`{shown}` in a loop is for somebody who watches"):
            self._seen.add(id(loop))
