"""CB118: pandas draws rows without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.free_seeds import FreeSeeds, runs_often
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import seeded_before
from jupyter_clusterbridge.model.findings import Severity

_LOOKS = ("display", "head", "print")


class UnseededSample(Rule):
    """A data frame is sampled or shuffled without `random_state`.

    ## What it does

    Reports the first `frame.sample(frac=...)` or `frame.sample(n=...)` of pandas without `random_state`, as long
    as nothing above has seeded NumPy's global stream, from which it draws then. A sample that is only shown is
    of info level.

    ## Why it matters on a cluster

    The job trains on other rows, or in another order, than the notebook did.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.DataFrame({"x": range(100)})
    train = table.sample(frac=0.8)  # <-- here
    test = table.drop(train.index)
    ```

    ## Good example

    ```python
    import pandas as pd

    table = pd.DataFrame({"x": range(100)})
    train = table.sample(frac=0.8, random_state=0)
    test = table.drop(train.index)
    ```

    ## Remedy

    Pass `random_state=SEED`.
    """

    code = "CB118"
    name = "unseeded-sample"
    words = frozenset({"pandas"})
    methods = frozenset({"sample"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._shown: tuple[ast.Call, CellContext] | None = None
        self._first: tuple[ast.Call, CellContext, bool] | None = None
        self._seeds = FreeSeeds()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at samples."""
        if has_star(node) or not isinstance(node.func, ast.Attribute) or (cell.callee or "").startswith("random."):
            return
        # other things have a method sample; these arguments are those of pandas
        if argument(node, "frac") is None and (argument(node, "n") is None or "polars" in self.notebook.source):
            return
        state = argument(node, "random_state", 4)
        self._seeds.note("sample", state, cell)
        if argument(node, "seed") is not None or (state is not None and constant(state, cell) is not None):
            return
        if self._first is not None or seeded_before("numpy", node, cell):
            return
        if _only_shown(cell):
            self._shown = self._shown or (node, cell)
        else:
            first, last = node.lineno, node.end_lineno or node.lineno
            if not cell.silences(self.code, first, last):
                self._first = node, cell, runs_often(cell)

    def end_notebook(self) -> None:
        """Report the first sample, one that is only shown where there is no other."""
        if self._first is not None:
            node, cell, often = self._first
            # a Snowpark frame has this method too, and no such argument
            fix = (
                None
                if often or "snowflake" in self.notebook.source
                else self._seeds.fix("sample", "random_state", node, cell)
            )
            self.report(cell, node, f"`{ast.unparse(node.func)}` draws other rows in each run", fix=fix)
        elif self._shown is not None:
            node, cell = self._shown
            message = f"`{ast.unparse(node.func)}` shows other rows in each run"
            self.report(cell, node, message, severity=Severity.INFO)


def _only_shown(cell: CellContext) -> bool:
    """Whether the sample is the value of a statement or the argument of a call that shows it."""
    for node in reversed(cell.parents):
        if isinstance(node, ast.Expr):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKS:
            return True
        if not isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
            return False
    return False
