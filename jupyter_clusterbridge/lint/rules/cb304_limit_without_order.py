"""CB304: any rows that the database happens to give first."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_LIMITED = re.compile(r"(?is)\bselect\b.+?\bfrom\b.+?\blimit\s+(\d[\d_]*)\b")
_ORDERED = re.compile(r"(?i)\border\s+by\b|\bsqlite_master\b|\binformation_schema\b")
_DATA_ROWS = 50
"""Fewer rows are somebody who takes a look."""


class LimitWithoutOrder(Rule):
    """An SQL query takes some rows with `LIMIT` and does not say which.

    ## What it does

    Reports SQL text with `LIMIT` of 50 rows or more and no `ORDER BY`. Smaller limits, with which a person
    looks at a table, are left alone.

    ## Why it matters on a cluster

    Without an order the database may give any rows, and gives others after an update, on a replica or with
    more threads. The job trains on another sample than the notebook did.

    ## Bad example

    ```python
    import pandas as pd

    rows = pd.read_sql("SELECT user_id, clicks FROM events LIMIT 10000", connection)  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    rows = pd.read_sql("SELECT user_id, clicks FROM events ORDER BY event_id LIMIT 10000", connection)
    pd.read_sql("SELECT * FROM events LIMIT 5", connection)
    ```

    ## Remedy

    Add `ORDER BY` over columns that together are unique.
    """

    code = "CB304"
    name = "limit-without-order"
    confidence = Confidence.MEDIUM
    words = frozenset({"LIMIT ", "limit ", "Limit "})

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at texts that are queries."""
        assert isinstance(node, ast.Constant)
        text = node.value
        if not isinstance(text, str) or "limit" not in text.lower():
            return
        if cell.parents and isinstance(cell.parents[-1], (ast.Expr, ast.JoinedStr)):
            return
        found = _LIMITED.search(text)
        if found and int(found[1].replace("_", "")) >= _DATA_ROWS and not _ORDERED.search(text):
            self.report(cell, node, f"`LIMIT {found[1]}` without `ORDER BY` takes any {found[1]} rows")
