"""CB305: a split of rows whose order no query has asked for."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.chains import chain_root, methods_after
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_READS = frozenset(
    {"pandas.read_sql", "pandas.read_sql_query", "pandas.read_gbq", "pandas_gbq.read_gbq", "polars.read_database"}
)
_SPLITS = frozenset({"sklearn.model_selection.train_test_split", "torch.utils.data.random_split"})
_QUERY = re.compile(r"(?is)^\s*(?:with\b.*)?select\b.+\bfrom\b")
_SETTLED = re.compile(r"(?i)\border\s+by\b|\blimit\b|\bsqlite_master\b|\bselect\s+count\(")
_SORTS = {"sort_values", "sort_index", "sort", "set_index"}


class QueryOrderInSplit(Rule):
    """A table read by SQL without `ORDER BY` is split by the position of its rows.

    ## What it does

    Reports `read_sql` and the like with a query that has no `ORDER BY`, where `train_test_split`, `sample`
    or `random_split` takes the name that holds its result, unless the table is sorted before.

    ## Why it matters on a cluster

    A seed fixes which positions go into the test set, not which rows stand there. The database may give the
    rows in another order each time, so that rows of the training set move to the test set in spite of
    `random_state`.

    ## Bad example

    ```python
    import pandas as pd
    from sklearn.model_selection import train_test_split

    table = pd.read_sql("SELECT age, income FROM people", connection)  # <-- here
    train, test = train_test_split(table, random_state=0)
    ```

    ## Good example

    ```python
    import pandas as pd
    from sklearn.model_selection import train_test_split

    table = pd.read_sql("SELECT age, income FROM people ORDER BY person_id", connection)
    train, test = train_test_split(table, random_state=0)
    ```

    ## Remedy

    Add `ORDER BY` over a unique key to the query, or sort the table by it before the split.
    """

    code = "CB305"
    name = "query-order-in-split"
    confidence = Confidence.MEDIUM
    words = frozenset({"read_sql", "read_gbq", "read_database"})
    calls = _READS | _SPLITS
    methods = frozenset({"sample", *_SORTS})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._read: dict[str, tuple[ast.Call, CellContext]] = {}

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note tables that are read, sorted and split."""
        if cell.callee in _READS:
            self._note(node, cell)
        elif cell.callee in _SPLITS:
            for value in node.args:
                self._split(value, cell)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.attr == "sample":
                self._split(node.func.value, cell)
            else:
                self._read.pop(node.func.value.id, None)

    def _note(self, node: ast.Call, cell: CellContext) -> None:
        query = constant(argument(node, "sql", 0) or argument(node, "query", 0), cell)
        parent = cell.parents[-1] if cell.parents else None
        if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
            return
        if isinstance(query, str) and _QUERY.search(query) and not _SETTLED.search(query):
            self._read[parent.targets[0].id] = (node, cell)

    def _split(self, value: ast.expr, cell: CellContext) -> None:
        root = chain_root(value)
        if not isinstance(root, ast.Name) or root.id not in self._read or set(methods_after(value, cell)) & _SORTS:
            return
        node, where = self._read.pop(root.id)
        self.report(where, node, f"`{root.id}` is split by position, but its query gives no order")
