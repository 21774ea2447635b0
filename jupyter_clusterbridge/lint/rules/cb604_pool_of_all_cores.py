"""CB604: a pool with a process for each core of the node."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, calls_in, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_COUNTS = {"os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count", "os.process_cpu_count"}
_POOLS: dict[str, tuple[str, int | None]] = {
    "multiprocessing.Pool": ("processes", 0),
    "multiprocessing.pool.Pool": ("processes", 0),
    "torch.multiprocessing.Pool": ("processes", 0),
    "concurrent.futures.ProcessPoolExecutor": ("max_workers", 0),
    "concurrent.futures.process.ProcessPoolExecutor": ("max_workers", 0),
    "pandarallel.pandarallel.initialize": ("nb_workers", None),
    "tqdm.contrib.concurrent.process_map": ("max_workers", None),
}
"""Calls, with the argument that bounds the number of processes and its position."""


class PoolOfAllCores(Rule):
    """A process pool is made without a number, so that it has a process for each core of the node.

    ## What it does

    Reports `multiprocessing.Pool()`, `ProcessPoolExecutor()`, `pandarallel.initialize()` and `process_map`
    without a number of processes, and `num_proc=os.cpu_count()` of Hugging Face's `map`. A number that
    follows the node's cores is CB601. joblib is left alone, since it asks for the container's limit.

    ## Why it matters on a cluster

    The default counts the cores of the node and not those of the job. On a node of 128 cores a pod with 4
    CPUs starts 128 processes, each with its copy of the data, until its memory limit ends it.

    ## Bad example

    ```python
    from multiprocessing import Pool

    with Pool() as pool:  # <-- here
        squares = pool.map(abs, range(100))
    ```

    ## Good example

    ```python
    from multiprocessing import Pool

    PROCESSES = 4
    with Pool(PROCESSES) as pool:
        squares = pool.map(abs, range(100))
    ```

    ## Remedy

    Pass a number that is a parameter and fits the CPUs that the job asks for.
    """

    code = "CB604"
    name = "pool-of-all-cores"
    words = frozenset({"Pool", "pandarallel", "process_map", "num_proc"})
    calls = frozenset(_POOLS)
    methods = frozenset({"map", "filter"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at pools, and at maps over data sets."""
        if cell.callee not in _POOLS:
            number = argument(node, "num_proc")
            if number is not None and any(name in _COUNTS for name in calls_in(number, cell)):
                self.report(cell, node, "`num_proc` follows the node's cores, not the job's limit")
            return
        name, position = _POOLS[cell.callee]
        number = argument(node, name, position)
        if not has_star(node) and (number is None or is_constant(number, None, cell)):
            self.report(cell, node, f"`{ast.unparse(node.func)}` starts a process for each core of the node")
