"""CB109: a shuffled order that starts anew when training resumes."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.loaders import DATA_LOADER
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_SAMPLERS = frozenset(
    f"torch.utils.data.{name}" for name in ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler")
)
_KEEPS = (
    "get_rng_state", "StatefulDataLoader", "set_epoch", "get_state()", "sampler_state", "rng_state", "Trainer(",
    "accelerator.load_state", "skip_first_batches",
)  # fmt: skip


class OrderLostOnResume(Rule):
    """Training resumes from a checkpoint that holds no random state, with a loader that shuffles.

    ## What it does

    Reports the shuffling `DataLoader` or random sampler of a notebook that loads an optimizer's state and an
    epoch from a checkpoint, and that neither saves a random state nor sets an epoch or a stateful loader.

    ## Why it matters on a cluster

    A job that is preempted resumes with the order of the first epoch: it sees the same batches again, and
    its loss is not that of a job that ran through.

    ## Bad example

    ```python
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(torch.ones(32, 4), batch_size=4, shuffle=True)  # <-- here
    saved = torch.load("last.pt")
    optimizer.load_state_dict(saved["optimizer"])
    for epoch in range(saved["epoch"] + 1, 10):
        for batch in loader:
            model(batch).mean().backward()
    ```

    ## Good example

    ```python
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(torch.ones(32, 4), batch_size=4, shuffle=True)
    saved = torch.load("last.pt")
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["rng_state"])
    for epoch in range(saved["epoch"] + 1, 10):
        for batch in loader:
            model(batch).mean().backward()
    ```

    ## Remedy

    Save `torch.get_rng_state()` (and those of NumPy and `random`) in the checkpoint and set it on resume, or
    seed the loader's generator from the epoch.
    """

    code = "CB109"
    name = "order-lost-on-resume"
    confidence = Confidence.MEDIUM
    words = frozenset({"load_state_dict"})
    calls = frozenset({DATA_LOADER, "torch.load"}) | _SAMPLERS
    methods = frozenset({"load_state_dict"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._order: tuple[ast.Call, CellContext] | None = None
        self._optimizer_loaded = False
        self._loads = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather what shuffles and what is loaded."""
        if cell.callee == "torch.load":
            self._loads = True
        elif cell.callee is None:
            owner = ast.unparse(node.func).lower()
            self._optimizer_loaded = self._optimizer_loaded or "optim" in owner
        elif self._order is None and argument(node, "generator") is None and _shuffles(node, cell):
            self._order = (node, cell)

    def end_notebook(self) -> None:
        """Report the order when the notebook resumes and keeps no random state."""
        source = self.notebook.source
        resumes = self._loads and self._optimizer_loaded and "epoch" in source
        if self._order is not None and resumes and not any(word in source for word in _KEEPS):
            node, cell = self._order
            self.report(cell, node, "the shuffled order starts anew when training resumes from a checkpoint")


def _shuffles(node: ast.Call, cell: CellContext) -> bool:
    return cell.callee in _SAMPLERS or is_constant(argument(node, "shuffle", 2), True, cell)
