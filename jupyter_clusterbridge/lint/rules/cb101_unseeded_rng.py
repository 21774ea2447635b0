"""CB101: a global random stream that no cell has seeded."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import STREAMS, stream_drawn
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import first_seeds


class UnseededRng(Rule):
    """A cell draws random numbers from a global stream that nothing seeds.

    ## What it does

    Looks for draws from the global streams of Python's `random`, of NumPy and of torch (also the initial
    weights of layers and the order of a shuffling `DataLoader`), and for the calls that seed them. It
    reports the first draw of each stream that no cell seeds; a seed that comes too late is CB105. A seed in
    a function that nothing calls does not count. A helper whose name contains `seed`, such as
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
    calls = frozenset({"random.*", "numpy.random.*", "torch.*"})

    _SEED_CALL = {"python": "random.seed", "numpy": "np.random.seed", "torch": "torch.manual_seed"}

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done: set[str] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look for draws from streams that are never seeded."""
        stream = stream_drawn(node, cell)
        if stream is not None and stream not in self._done and stream not in first_seeds(self.notebook):
            self._report(stream, node, cell)

    def _report(self, stream: str, node: ast.Call, cell: CellContext) -> None:
        drawn = ast.unparse(node.func)
        message = f"`{drawn}` draws from {STREAMS[stream]}, which no cell seeds"
        remedy = f"Call `{self._SEED_CALL[stream]}(SEED)` in a cell above, with `SEED = 0` among the parameters."
        if self.report(cell, node, message, remedy=remedy):
            self._done.add(stream)
