"""CB101: a global random stream that no cell has seeded."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import STREAMS, stream_drawn, streams_seeded
from jupyter_clusterbridge.lint.rule import Rule


class UnseededRng(Rule):
    """A cell draws random numbers from a global stream that nothing before has seeded.

    ## What it does

    Looks for draws from the global streams of Python's `random`, of NumPy and of torch (also the initial
    weights of layers and the order of a shuffling `DataLoader`), and for the calls that seed them. It
    reports the first draw of each stream that comes before any seed. A draw in a function counts as
    unseeded only when no cell seeds the stream at all. A helper whose name contains `seed`, such as
    `seed_everything(0)`, counts as seeding every stream.

    ## Why it matters on a cluster

    The job draws other numbers than the notebook did: another split, another order, other initial weights.
    What it trains is another model, and no comparison can say whether anything else went wrong as well.

    ## Bad example

    ```python
    import numpy as np
    import torch

    rows = np.arange(100)
    np.random.shuffle(rows)  # <-- here
    # %%
    layer = torch.nn.Linear(8, 2)  # <-- here
    ```

    ## Good example

    ```python
    import numpy as np
    import torch

    SEED = 0
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    # %%
    rows = np.arange(100)
    np.random.shuffle(rows)
    layer = torch.nn.Linear(8, 2)
    noise = np.random.default_rng(SEED).normal(size=8)
    ```

    ## Remedy

    Seed the stream in a cell above the first draw, from a parameter such as `SEED = 0`.
    """

    code = "CB101"
    name = "unseeded-rng"

    _SEED_CALL = {"python": "random.seed", "numpy": "np.random.seed", "torch": "torch.manual_seed"}

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done: set[str] = set()
        self._deferred: list[tuple[str, ast.Call, CellContext]] = []

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Follow seeds and draws in the order of the cells."""
        assert isinstance(node, ast.Call)
        seeded = streams_seeded(node, cell)
        if seeded:
            self._done.update(seeded)
            return
        stream = stream_drawn(node, cell)
        if stream is None or stream in self._done:
            return
        if cell.function is not None:
            self._deferred.append((stream, node, cell))
        else:
            self._report(stream, node, cell)

    def end_notebook(self) -> None:
        """Report draws in functions whose stream was never seeded."""
        for stream, node, cell in self._deferred:
            if stream not in self._done:
                self._report(stream, node, cell)

    def _report(self, stream: str, node: ast.Call, cell: CellContext) -> None:
        drawn = ast.unparse(node.func)
        message = f"`{drawn}` draws from {STREAMS[stream]}, which no cell before has seeded"
        remedy = f"Call `{self._SEED_CALL[stream]}(SEED)` in a cell above, with `SEED = 0` among the parameters."
        if self.report(cell, node, message, remedy=remedy):
            self._done.add(stream)
