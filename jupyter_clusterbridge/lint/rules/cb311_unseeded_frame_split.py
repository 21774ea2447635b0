"""CB311: Spark, Dask and Polars frames split or sampled without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_COLUMNS = {"pyspark.sql.functions.rand", "pyspark.sql.functions.randn"}


def _is_frame(name: str) -> bool:
    library, _, rest = name.partition(".")
    return (library == "polars" and not rest.startswith(("col", "lit", "when"))) or name.startswith(
        "dask.dataframe."
    )


class UnseededFrameSplit(Rule):
    """A Spark, Dask or Polars frame is split or sampled without a seed.

    ## What it does

    Reports `randomSplit` of Spark and `random_split` of Dask without a seed, `sample` on frames of Dask and
    Polars, and Spark's columns `rand()` and `randn()`.

    ## Why it matters on a cluster

    These libraries draw from a generator of their own, which no `random.seed` or `numpy.random.seed`
    reaches. Each run, and in Spark each time that the plan is evaluated again, gives another split.

    ## Bad example

    ```python
    from pyspark.sql import SparkSession, functions as F

    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet("rows.parquet").withColumn("draw", F.rand())  # <-- here
    train, test = rows.randomSplit([0.8, 0.2])  # <-- here
    ```

    ## Good example

    ```python
    from pyspark.sql import SparkSession, functions as F

    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet("rows.parquet").withColumn("draw", F.rand(seed=1))
    train, test = rows.randomSplit([0.8, 0.2], seed=0)
    ```

    ## Remedy

    Pass a seed (`seed=`, `random_state=`), and sort or checkpoint the frame before a split so that its rows
    have one order.
    """

    code = "CB311"
    name = "unseeded-frame-split"
    words = frozenset({"pyspark", "dask", "polars"})
    calls = frozenset(_COLUMNS)
    methods = frozenset({"randomSplit", "random_split", "sample"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._origins = Origins(_is_frame, ("to_pandas", "compute", "to_numpy", "to_list"))
        self._seeded = "set_random_seed" in notebook.source

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a frame."""
        assert isinstance(node, ast.Assign)
        self._origins.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at splits and samples."""
        if has_star(node) or argument(node, "seed") is not None or argument(node, "random_state") is not None:
            return
        if cell.callee in _COLUMNS:
            if not node.args:
                self.report(cell, node, f"`{(cell.callee or '').rpartition('.')[2]}()` of Spark without a seed")
            return
        if not isinstance(node.func, ast.Attribute):
            return
        name = node.func.attr
        if name == "randomSplit" and "pyspark" in self.notebook.source:
            if len(node.args) < 2:
                self.report(cell, node, "`randomSplit` without a seed is another split in each run")
        elif name != "randomSplit" and self._origins.holds(node.func.value, cell) and not self._seeded:
            self.report(cell, node, f"`{name}` of a frame without a seed is another choice in each run")
