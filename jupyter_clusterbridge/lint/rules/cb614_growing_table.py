"""CB614: a table or array that a loop copies to add to it."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_GROW = frozenset(
    {"pandas.concat", "numpy.append", "numpy.concatenate", "numpy.vstack", "numpy.hstack", "torch.cat"}
)


class GrowingTable(Rule):
    """A loop adds to a frame, an array or a tensor by copying all of it.

    ## What it does

    Reports `table = pd.concat([table, rows])`, and the like of `np.append`, `np.concatenate`, `np.vstack`
    and `torch.cat`, in a loop whose number of passes is not a small constant and that does not need the
    whole in between.

    ## Why it matters on a cluster

    Each pass copies everything before it, so that time grows with the square of the number of passes and the
    memory's peak is twice the table. What took seconds on the notebook's sample takes the job's hours.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.DataFrame()
    for path in ["a.csv", "b.csv"] * 100:
        table = pd.concat([table, pd.read_csv(path)])  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    parts = []
    for path in ["a.csv", "b.csv"] * 100:
        parts.append(pd.read_csv(path))
    table = pd.concat(parts)
    ```

    ## Remedy

    Gather the parts in a list and join them once after the loop.
    """

    code = "CB614"
    name = "growing-table"
    severity = Severity.INFO
    calls = _GROW
    words = frozenset({"concat", "append", "vstack", "hstack", "torch"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at a join whose result takes the place of one of its parts."""
        parent = cell.parents[-1] if cell.parents else None
        sideways = constant(argument(node, "axis"), cell) == 1
        if sideways or not isinstance(parent, ast.Assign) or parent.value is not node or not node.args:
            return
        target = parent.targets[0]
        first = node.args[0]
        parts = first.elts if isinstance(first, (ast.List, ast.Tuple)) else node.args[:2]
        if not isinstance(target, ast.Name) or not parts or not isinstance(parts[0], ast.Name):
            return
        if parts[0].id == target.id and len(parts) > 1 and _long_loop(target.id, parent, cell):
            self.report(cell, node, f"`{target.id}` is copied whole in every pass of the loop")


def _long_loop(name: str, joined: ast.Assign, cell: CellContext) -> bool:
    """Whether a loop runs often and the name keeps what it held in the pass before."""
    for node in reversed(cell.parents):
        if isinstance(node, ast.While):
            return not _needed_within(node, name, joined)
        if isinstance(node, ast.For):
            few = isinstance(node.iter, (ast.List, ast.Tuple))
            count = node.iter.args[-1] if isinstance(node.iter, ast.Call) and node.iter.args else None
            short = isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value < 20
            return not few and not short and not _needed_within(node, name, joined)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return False
    return False


def _needed_within(loop: ast.For | ast.While, name: str, joined: ast.Assign) -> bool:
    """Whether the loop also reads or sets the name elsewhere, as one that makes a text token by token does."""
    own = set(map(id, ast.walk(joined)))
    named = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name)
    return any(id(node) not in own for node in named)
