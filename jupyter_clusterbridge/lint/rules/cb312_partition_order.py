"""CB312: Spark columns whose values depend on the order of rows."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.chains import methods_after
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_FUNCTIONS = "pyspark.sql.functions."
_NAMES = {
    "monotonically_increasing_id": "numbers rows by the partition they happen to be in",
    "first": "takes the row that happens to come first",
    "last": "takes the row that happens to come last",
    "first_value": "takes the row that happens to come first",
    "last_value": "takes the row that happens to come last",
    "collect_list": "gathers rows in the order in which they happen to come",
}
_SORTING = {"sort_array", "array_sort", "array_distinct", "size", "array_contains"}


class PartitionOrder(Rule):
    """A Spark column depends on how the rows happen to be laid out.

    ## What it does

    Reports `monotonically_increasing_id`, `first`, `last` and `collect_list` of `pyspark.sql.functions`,
    which Spark's documentation calls nondeterministic, unless a window orders the rows or the list is sorted
    afterwards.

    ## Why it matters on a cluster

    The layout follows the number of executors and the moment at which each finishes. The same query gives
    other ids and other features on the cluster than on a laptop, and other ones again after a retry.

    ## Bad example

    ```python
    from pyspark.sql import functions as F

    rows = rows.withColumn("id", F.monotonically_increasing_id())  # <-- here
    last = rows.groupBy("user").agg(F.first("city"))  # <-- here
    ```

    ## Good example

    ```python
    from pyspark.sql import Window, functions as F

    by_time = Window.partitionBy("user").orderBy("time", "event_id")
    rows = rows.withColumn("city", F.first("city").over(by_time))
    seen = rows.groupBy("user").agg(F.sort_array(F.collect_list("city")))
    ```

    ## Remedy

    Order the rows by a unique key in a window (`row_number().over(...)`), or use an aggregate that has no
    order, such as `min` or `max`.
    """

    code = "CB312"
    name = "partition-order"
    confidence = Confidence.MEDIUM
    words = frozenset({"pyspark"})
    calls = frozenset(_FUNCTIONS + name for name in _NAMES)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at functions that depend on the order of rows."""
        if "over" in methods_after(node, cell):
            return
        for parent in cell.within(ast.Call):
            assert isinstance(parent, ast.Call)
            if (cell.resolve(parent.func) or "").rpartition(".")[2] in _SORTING:
                return
        name = (cell.callee or "").rpartition(".")[2]
        self.report(cell, node, f"`{name}` {_NAMES[name]}")
