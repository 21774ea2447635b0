"""CB508: a figure in each turn of a training loop."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import LOOPS, trains
from jupyter_clusterbridge.model.findings import Severity

_SHOW = frozenset({"matplotlib.pyplot.show", "pylab.show", "matplotlib.pyplot.pause"})


class PlotEachStep(Rule):
    """A training loop shows a figure in each turn.

    ## What it does

    Reports, as information, `plt.show()` and `plt.pause()` in a loop that trains or has no end, unless a
    condition in the loop makes it rare; once for each loop. Loops that only draw a few figures are left
    alone.

    ## Why it matters on a cluster

    Each figure is a picture in the executed notebook, which grows by some ten kilobytes a step and is
    written again each time. Drawing also takes longer than many a training step.

    ## Bad example

    ```python
    import matplotlib.pyplot as plt

    for epoch in range(1000):
        loss = model(epoch)
        loss.backward()
        plt.plot([epoch])
        plt.show()  # <-- here
    ```

    ## Good example

    ```python
    import matplotlib.pyplot as plt

    losses = []
    for epoch in range(1000):
        loss = model(epoch)
        loss.backward()
        losses.append(loss.item())
    plt.plot(losses)
    plt.show()
    ```

    ## Remedy

    Gather the values and draw them once after the loop, or every few hundred steps.
    """

    code = "CB508"
    name = "plot-each-step"
    severity = Severity.INFO
    words = frozenset({"show(", "pause("})
    calls = _SHOW

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[int] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the loop around a figure."""
        for parent in reversed(cell.parents):
            if isinstance(parent, (ast.If, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return
            if not isinstance(parent, LOOPS):
                continue
            endless = isinstance(parent, ast.While) and isinstance(parent.test, ast.Constant)
            if (endless or trains(parent.body)) and id(parent) not in self._seen:
                if self.report(cell, node, "each turn of the loop adds a figure to the output"):
                    self._seen.add(id(parent))
                return
