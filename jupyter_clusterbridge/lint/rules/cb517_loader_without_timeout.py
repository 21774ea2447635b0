"""CB517: loader workers that may hang."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class LoaderWithoutTimeout(Rule):
    """A `DataLoader` waits for its workers without a limit.

    ## What it does

    Reports, as information and once for each notebook, a `DataLoader` with workers and without `timeout`.

    ## Why it matters on a cluster

    A worker that hangs in a read from shared storage, or in a lock that it took over when it was forked,
    never answers. The loop then waits for ever: no error, no progress, all GPUs held. At a notebook somebody
    presses the stop button.

    ## Bad example

    ```python
    from torch.utils.data import DataLoader

    loader = DataLoader(data, batch_size=32, num_workers=4)  # <-- here
    ```

    ## Good example

    ```python
    from torch.utils.data import DataLoader

    loader = DataLoader(data, batch_size=32, num_workers=4, timeout=300)
    small = DataLoader(data, batch_size=32)
    ```

    ## Remedy

    Pass `timeout=` in seconds, several times as long as the slowest batch takes.
    """

    code = "CB517"
    name = "loader-without-timeout"
    severity = Severity.INFO
    words = frozenset({"num_workers"})
    calls = frozenset(
        {"torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader", "monai.data.DataLoader"}
    )

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._reported = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at loaders."""
        workers = constant(argument(node, "num_workers"), cell)
        if self._reported or has_star(node) or not isinstance(workers, int) or workers < 1:
            return
        if argument(node, "timeout") is None:
            message = f"nothing limits how long the loop waits for its {workers} workers"
            self._reported = self.report(cell, node, message)
