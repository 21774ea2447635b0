"""CB601: worker processes that a pod has no room for."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, calls_in, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

MOST_WORKERS = 8
"""More workers than this are reported; a pod with one GPU commonly gets 4 to 8 CPUs."""
_COUNTS = {"os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count", "torch.multiprocessing.cpu_count"}
_POOLS = {
    "multiprocessing.Pool", "multiprocessing.pool.Pool", "torch.multiprocessing.Pool",
    "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor",
}  # fmt: skip


class TooManyWorkers(Rule):
    """Loader workers are as many as the node's cores, or more than a pod may have.

    ## What it does

    Reports a `DataLoader` or a process pool with more than 8 workers, or with as many as `os.cpu_count()`
    says.

    ## Why it matters on a cluster

    `os.cpu_count()` counts the cores of the node, not those of the job's limit: 128 workers then share 4
    CPUs, each with its own copy of the data set, until the memory limit ends the job. Workers pass batches
    through `/dev/shm`, which has 64 MB in a container unless the job asks for more.

    ## Bad example

    ```python
    import os

    from torch.utils.data import DataLoader

    loader = DataLoader(list(range(100)), num_workers=os.cpu_count())  # <-- here
    wide = DataLoader(list(range(100)), num_workers=32)  # <-- here
    ```

    ## Good example

    ```python
    import os

    from torch.utils.data import DataLoader

    WORKERS = 4
    loader = DataLoader(list(range(100)), num_workers=WORKERS)
    fitting = DataLoader(list(range(100)), num_workers=min(4, os.cpu_count()))
    ```

    ## Remedy

    Make the number a parameter that fits the job's CPUs (`len(os.sched_getaffinity(0))` counts them), and
    ask for shared memory with `--shm-size`.
    """

    code = "CB601"
    name = "too-many-workers"

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at loaders and pools."""
        assert isinstance(node, ast.Call)
        if cell.callee == "torch.utils.data.DataLoader":
            self._check(node, argument(node, "num_workers", 5), "loader workers", cell)
        elif cell.callee in _POOLS:
            workers = argument(node, "processes", 0) or argument(node, "max_workers", 0)
            self._check(node, workers, "processes", cell)

    def _check(self, node: ast.Call, workers: ast.expr | None, what: str, cell: CellContext) -> None:
        if workers is None:
            return
        number = constant(workers, cell)
        if isinstance(number, int) and not isinstance(number, bool) and number > MOST_WORKERS:
            message = f"{number} {what} are more than a pod may have CPUs and shared memory for"
            self.report(cell, node, message, confidence=Confidence.MEDIUM)
            return
        bounded = cell.resolve(getattr(workers, "func", workers)) == "builtins.min"
        if not bounded and any(name in _COUNTS for name in calls_in(workers, cell)):
            self.report(cell, node, f"the number of {what} follows the node's cores, not the job's limit")
