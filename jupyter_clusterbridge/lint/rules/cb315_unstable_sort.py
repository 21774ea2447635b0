"""CB315: a choice among rows that an unstable sort has put in order."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star, is_constant
from jupyter_clusterbridge.lint.chains import methods_after
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import add_argument
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_CHOOSES = {"first", "last", "head", "tail", "nth", "cumcount", "shift", "diff", "cumsum", "pct_change", "ffill",
            "bfill", "rolling", "expanding"}  # fmt: skip
_BETWEEN = {"reset_index", "set_index", "copy", "loc", "iloc"}
_WITHOUT_KIND = ("dask", "pyspark", "databricks.koalas", "cudf")
"""Libraries whose frames have a `sort_values` that does not take `kind`, or not this one."""


class UnstableSort(Rule):
    """Rows with equal keys are sorted by an unstable sort, and one of them is chosen.

    ## What it does

    Reports pandas' `sort_values` by one column without `kind="stable"` where the same chain goes on with
    `drop_duplicates` or with the first, last or shifted row of each group.

    ## Why it matters on a cluster

    The default sort does not keep the order of equal keys, and NumPy uses another algorithm on a processor
    with AVX-512 or AVX2. Which of two rows with the same date is kept then depends on the node.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.read_csv("visits.csv")
    latest = table.sort_values("date").drop_duplicates("patient", keep="last")  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    table = pd.read_csv("visits.csv")
    latest = table.sort_values(["date", "visit_id"]).drop_duplicates("patient", keep="last")
    oldest = table.sort_values("date", kind="stable").groupby("patient").first()
    ```

    ## Remedy

    Pass `kind="stable"`, or sort by a second column that decides between equal keys.
    """

    code = "CB315"
    name = "unstable-sort"
    confidence = Confidence.MEDIUM
    words = frozenset({"sort_values"})
    methods = frozenset({"sort_values"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at sorts by one column and what follows them."""
        if has_star(node) or argument(node, "kind") is not None or not _one_column(argument(node, "by", 0), cell):
            return
        if is_constant(argument(node, "inplace"), True, cell):
            return
        after = [name for name in methods_after(node, cell) if name not in _BETWEEN]
        chosen = after[0] if after[:1] == ["drop_duplicates"] else None
        if after[:1] == ["groupby"]:
            chosen = next((name for name in after[1:] if name in _CHOOSES), None)
        if chosen:
            message = f"`{chosen}` depends on the order of equal keys, which `sort_values` does not keep"
            fix = None
            if not any(word in cell.notebook.source for word in _WITHOUT_KIND):
                fix = add_argument(node, 'kind="stable"', cell, 'Add kind="stable"')
            self.report(cell, node, message, fix=fix)


def _one_column(by: ast.expr | None, cell: CellContext) -> bool:
    if isinstance(by, (ast.List, ast.Tuple)):
        return len(by.elts) == 1
    return isinstance(constant(by, cell), str)
