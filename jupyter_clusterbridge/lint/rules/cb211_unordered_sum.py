"""CB211: floats added up in the order in which parallel tasks finish."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_AS_COMPLETED = {
    "concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed",
    "distributed.as_completed",
}  # fmt: skip


class UnorderedSum(Rule):
    """A float is added up in the order in which parallel tasks finish.

    ## What it does

    Reports a loop over `as_completed` or `imap_unordered` (also within `tqdm` or `enumerate`) that adds to a
    variable which began as a float. Lists that are filled in that order are CB313.

    ## Why it matters on a cluster

    Which task finishes first is another one in each run, and floats that are added in another order give
    another sum in the last bits, which training carries on.

    ## Bad example

    ```python
    from concurrent.futures import ThreadPoolExecutor, as_completed

    total = 0.0
    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(pow, 0.1, n) for n in range(10)]
        for task in as_completed(tasks):
            total += task.result()  # <-- here
    ```

    ## Good example

    ```python
    import math
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        total = math.fsum(pool.map(pow, [0.1] * 10, range(10)))
    ```

    ## Remedy

    Add the results in the order of `pool.map`, or with `math.fsum`, which gives the same sum in any order.
    """

    code = "CB211"
    name = "unordered-sum"
    confidence = Confidence.MEDIUM
    words = frozenset({"as_completed", "imap_unordered", "generator_unordered"})

    def visit_AugAssign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at sums of results."""
        assert isinstance(node, ast.AugAssign)
        if not isinstance(node.op, ast.Add) or not isinstance(node.target, ast.Name) or not _in_loop(cell):
            return
        name = node.target.id
        # whole numbers add up to the same in any order
        if re.search(rf"\b{name}\s*=\s*\d*\.\d*\b", cell.cell.source):
            self.report(cell, node, f"`{name}` is added up in the order in which tasks finish")


def _in_loop(cell: CellContext) -> bool:
    for node in reversed(cell.parents):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return _unordered(node.iter, cell)
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.While, ast.ExceptHandler)):
            return False
    return False


def _unordered(node: ast.expr, cell: CellContext) -> bool:
    """Whether an expression iterates over results as they come, also through ``tqdm`` and ``enumerate``."""
    for inner in descend(node):
        if isinstance(inner, ast.Call):
            if cell.resolve(inner.func) in _AS_COMPLETED:
                return True
            if isinstance(inner.func, ast.Attribute) and inner.func.attr == "imap_unordered":
                return True
            if any(constant(keyword.value, cell) == "generator_unordered" for keyword in inner.keywords):
                return True
    return False
