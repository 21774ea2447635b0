"""CB314: Polars operations that give rows in no fixed order."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.chains import Origins, methods_after
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.fixes import add_argument
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_SETTLED = {
    "sort",
    "sort_by",
    "len",
    "height",
    "shape",
    "n_unique",
    "sum",
    "max",
    "min",
    "is_in",
    "to_set",
    "join",
}
_LEAVING = ("to_pandas", "to_numpy", "to_list", "to_dicts", "item", "collect_schema", "columns", "schema")


def _is_frame(name: str) -> bool:
    library, _, rest = name.partition(".")
    return library == "polars" and rest.startswith(("read_", "scan_", "DataFrame", "LazyFrame", "from_", "concat"))


class PolarsRowOrder(Rule):
    """A Polars frame is grouped or made unique without an order.

    ## What it does

    Reports `group_by` and `unique` of Polars frames without `maintain_order=True`, unless the result is
    sorted or only counted in the same chain.

    ## Why it matters on a cluster

    The threads decide the order of the groups, another one in each run. Batches, splits by position and
    class numbers made from such a frame follow it, and `unique` may keep another row of each kind.

    ## Bad example

    ```python
    import polars as pl

    table = pl.read_parquet("clicks.parquet")
    users = table.group_by("user").agg(pl.len())  # <-- here
    rows = table.unique(subset="user")  # <-- here
    ```

    ## Good example

    ```python
    import polars as pl

    table = pl.read_parquet("clicks.parquet")
    users = table.group_by("user").agg(pl.len()).sort("user")
    rows = table.unique(subset="user", keep="first", maintain_order=True)
    ```

    ## Remedy

    Pass `maintain_order=True`, or sort the result by the key.
    """

    code = "CB314"
    name = "polars-row-order"
    confidence = Confidence.MEDIUM
    words = frozenset({"polars"})
    methods = frozenset({"group_by", "groupby", "unique"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._origins = Origins(_is_frame, _LEAVING)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a frame."""
        assert isinstance(node, ast.Assign)
        self._origins.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at operations that lose the order."""
        if (
            not isinstance(node.func, ast.Attribute)
            or has_star(node)
            or argument(node, "maintain_order") is not None
        ):
            return
        after = methods_after(node, cell)
        shown = not _SETTLED.isdisjoint(after) or not self._origins.holds(node.func.value, cell)
        top = cell.parents[0] if cell.parents else None
        # a table at the end of a cell is only looked at
        if shown or isinstance(top, ast.Expr) or _in_iteration(node, after, cell):
            return
        fix = add_argument(node, "maintain_order=True", cell, "Add maintain_order=True")
        self.report(
            cell, node, f"`{node.func.attr}` without `maintain_order` gives rows in no fixed order", fix=fix
        )


def _in_iteration(node: ast.Call, after: list[str], cell: CellContext) -> bool:
    """Whether a loop goes over the groups, where each has its key beside it."""
    loop = next(cell.within(ast.For), None)
    return isinstance(loop, ast.For) and loop.iter is node and not after
