"""CB211: results of parallel work in the order in which they come."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_AS_COMPLETED = {"concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed"}


class UnorderedResults(Rule):
    """Results of parallel tasks are gathered in the order in which they finish.

    ## What it does

    Reports a loop over `as_completed` or `imap_unordered` (also within `tqdm` or `enumerate`) that appends
    to a list or adds floats up, and a list made of one of them, unless something in the cell sorts the list.

    ## Why it matters on a cluster

    Which task finishes first is another one in each run. Rows come in another order, floats are added in
    another order, and a split by position is another split.

    ## Bad example

    ```python
    from concurrent.futures import ThreadPoolExecutor, as_completed

    rows = []
    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(pow, 2, n) for n in range(10)]
        for task in as_completed(tasks):
            rows.append(task.result())  # <-- here
    ```

    ## Good example

    ```python
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(pow, [2] * 10, range(10)))
    ```

    ## Remedy

    Use `pool.map`, which keeps the order, or put each result at its task's place.
    """

    code = "CB211"
    name = "unordered-results"
    confidence = Confidence.MEDIUM
    words = frozenset({"as_completed", "imap_unordered", "generator_unordered"})
    methods = frozenset({"append", "extend", "list", "sum"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what gathers results."""
        if cell.callee in ("builtins.list", "builtins.sum"):
            if node.args and _unordered(node.args[0], cell) and not _sorted_somewhere(cell, None):
                self.report(cell, node, "the results come in the order in which tasks finish")
            return
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and _in_loop(cell):
            # a pair of a key and a result can be put in order afterwards
            paired = bool(node.args) and isinstance(node.args[0], (ast.Tuple, ast.Dict))
            if not paired and not _sorted_somewhere(cell, node.func.value.id):
                name = node.func.value.id
                self.report(cell, node, f"`{name}` is filled in the order in which tasks finish")

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


def _sorted_somewhere(cell: CellContext, name: str | None) -> bool:
    source = cell.cell.source
    return "sort" in source or (name is not None and f"sorted({name}" in cell.notebook.source)
