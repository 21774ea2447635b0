"""CB112: worker processes that draw from a copy of the stream."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import STREAMS, stream_drawn, streams_seeded
from jupyter_clusterbridge.lint.rule import Rule

_POOLED = frozenset(
    {"map", "imap", "imap_unordered", "starmap", "map_async", "starmap_async", "apply_async", "submit"}
)
_PROCESS = frozenset({"multiprocessing.Process", "torch.multiprocessing.Process"})


class ForkCopiesStream(Rule):
    """A function that draws from a global random stream runs in worker processes.

    ## What it does

    Reports a draw from NumPy's or torch's global stream, or from `random`, in a function of the notebook
    that is handed to a process pool or a `multiprocessing.Process` and that does not seed anything itself.

    ## Why it matters on a cluster

    With `fork`, each process starts with a copy of NumPy's stream, so that all draw the same numbers;
    Python's `random` is seeded anew in each, so that none can be repeated. Which process takes which task is
    another matter in each run.

    ## Bad example

    ```python
    from multiprocessing import Pool

    import numpy as np

    np.random.seed(0)


    def simulate(trial):
        return np.random.normal()  # <-- here


    with Pool(4) as pool:
        results = pool.map(simulate, range(100))
    ```

    ## Good example

    ```python
    from multiprocessing import Pool

    import numpy as np


    def simulate(trial):
        return np.random.default_rng([0, trial]).normal()


    with Pool(4) as pool:
        results = pool.map(simulate, range(100))
    ```

    ## Remedy

    Make a generator from the seed and the task's number in the function, or spawn one for each task from a
    `SeedSequence`.
    """

    code = "CB112"
    name = "fork-copies-stream"
    words = frozenset({"multiprocessing", "ProcessPoolExecutor"})
    methods = _POOLED
    calls = _PROCESS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._draws: dict[str, tuple[str, ast.Call, CellContext]] = {}
        self._seeded: set[str] = set()
        self._handed: set[str] = set()

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Gather draws and seeds in functions."""
        assert isinstance(node, ast.Call)
        function = getattr(cell.scopes[1].node, "name", None) if len(cell.scopes) > 1 else None
        if function is None:
            return
        if streams_seeded(node, cell):
            self._seeded.add(function)
        stream = stream_drawn(node, cell)
        if stream is not None:
            self._draws.setdefault(function, (stream, node, cell))

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather functions that run in other processes."""
        if cell.callee in _PROCESS:
            target = argument(node, "target", 1)
        elif isinstance(node.func, ast.Attribute) and _is_pool(node.func.value, cell):
            target = node.args[0] if node.args else None
        else:
            return
        if isinstance(target, ast.Name):
            self._handed.add(target.id)

    def end_notebook(self) -> None:
        """Report draws in functions that other processes run."""
        for function in sorted(self._handed & self._draws.keys() - self._seeded):
            stream, node, cell = self._draws[function]
            message = (
                f"`{function}` runs in processes that each draw from a stream of their own ({STREAMS[stream]})"
            )
            self.report(cell, node, message)


def _is_pool(node: ast.expr, cell: CellContext) -> bool:
    """Whether an expression is a pool of processes, by its name; pools of threads share one stream."""
    if not isinstance(node, ast.Name):
        return False
    name = node.id.lower()
    threads = "ThreadPool" in cell.notebook.source or "multiprocessing.dummy" in cell.notebook.source
    return not threads and ("pool" in name or "executor" in name or name in ("p", "ex"))
