"""CB412: data that end today."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import base_name
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_NOW = frozenset(
    {"datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today",
     "pandas.Timestamp.now", "pandas.Timestamp.today", "pandas.Timestamp.utcnow", "arrow.now", "arrow.utcnow",
     "pendulum.now", "pendulum.today"}
)  # fmt: skip
_ENDS = {"end", "end_date", "enddate", "until", "to_date", "end_time", "date_to", "end_datetime"}


class MovingDate(Rule):
    """Today's date goes into the data.

    ## What it does

    Reports `datetime.now()`, `date.today()`, `pd.Timestamp.now()` and the like where a column is subtracted
    from or compared with it, and where it is given as the end of the period to load (`end=`, `until=`).
    Times that are shown, put into file names or measured are left alone.

    ## Why it matters on a cluster

    The job runs on another day. Ages, gaps and windows then have other values than in the notebook, and the
    model was trained on other data.

    ## Bad example

    ```python
    from datetime import datetime

    import pandas as pd

    people = pd.read_csv("people.csv", parse_dates=["born"])
    people["age"] = (datetime.now() - people["born"]).dt.days // 365  # <-- here
    ```

    ## Good example

    ```python
    from datetime import datetime

    import pandas as pd

    people = pd.read_csv("people.csv", parse_dates=["born"])
    people["age"] = (datetime(2026, 1, 1) - people["born"]).dt.days // 365
    begin = datetime.now()
    print(datetime.now() - begin)
    ```

    ## Remedy

    Write the date down as a parameter of the tagged cell.
    """

    code = "CB412"
    name = "moving-date"
    confidence = Confidence.MEDIUM
    words = frozenset({".now(", ".today(", ".utcnow("})
    calls = _NOW

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what is done with the time."""
        inner: ast.AST = node
        for parent in reversed(cell.parents):
            if isinstance(parent, ast.keyword):
                if (parent.arg or "").lower() in _ENDS:
                    self.report(cell, node, f"`{parent.arg}` moves with the day on which the notebook runs")
                return
            other = _other_side(parent, inner)
            if other is not None:
                if _is_column(other):
                    self.report(cell, node, "a column is set against the day on which the notebook runs")
                return
            # .year, .date(), .strftime(...) are still the day
            if not isinstance(parent, ast.Attribute) and not (
                isinstance(parent, ast.Call) and parent.func is inner
            ):
                return
            inner = parent


def _other_side(parent: ast.AST, inner: ast.AST) -> ast.expr | None:
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub):
        return parent.right if parent.left is inner else parent.left
    if isinstance(parent, ast.Compare) and len(parent.comparators) == 1:
        return parent.comparators[0] if parent.left is inner else parent.left
    return None


def _is_column(node: ast.expr) -> bool:
    """Whether an expression is ``table["column"]`` or a part of it such as ``.dt.year``."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Subscript) or base_name(node) is None:
        return False
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
