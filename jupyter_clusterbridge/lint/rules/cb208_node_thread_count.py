"""CB208: sums that hang on how many cores the node has."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, calls_in
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_COUNTS = {
    "os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count", "torch.multiprocessing.cpu_count",
    "os.process_cpu_count", "joblib.cpu_count",
}  # fmt: skip
_CALLS = {
    "torch.set_num_threads": "num",
    "numba.set_num_threads": "n",
    "tensorflow.config.threading.set_intra_op_parallelism_threads": "num_threads",
    "mkl.set_num_threads": "num_threads",
    "numpy.array_split": "indices_or_sections",
}


class NodeThreadCount(Rule):
    """The number of threads or chunks of a computation follows the node's cores.

    ## What it does

    Reports `torch.set_num_threads`, `numba.set_num_threads` and the like, and `np.array_split`, when they
    get `os.cpu_count()`.

    ## Why it matters on a cluster

    A sum over threads or chunks adds its parts in an order that hangs on their number, so that the same job
    gives other last bits on another node. A pod with 4 CPUs on a node of 128 runs 128 threads on 4 cores.

    ## Bad example

    ```python
    import os

    import torch

    torch.set_num_threads(os.cpu_count())  # <-- here
    ```

    ## Good example

    ```python
    import torch

    torch.set_num_threads(4)
    ```

    ## Remedy

    Make the number a parameter that is equal to the CPUs that the job asks for.
    """

    code = "CB208"
    name = "node-thread-count"
    words = frozenset({"cpu_count"})
    calls = frozenset(_CALLS)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at where the number comes from."""
        name = cell.callee or ""
        value = argument(node, _CALLS[name], 1 if name == "numpy.array_split" else 0)
        if value is None or cell.resolve(getattr(value, "func", value)) == "builtins.min":
            return
        if any(count in _COUNTS for count in calls_in(value, cell)):
            self.report(cell, node, f"`{ast.unparse(node.func)}` follows the node's cores, and results with it")
