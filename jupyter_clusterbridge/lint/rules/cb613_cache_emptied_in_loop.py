"""CB613: the GPU's cache is emptied in every step."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import names_in
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_BATCHES = ("loader", "batch", "dl")


class CacheEmptiedInLoop(Rule):
    """`torch.cuda.empty_cache()` runs for every batch.

    ## What it does

    Reports the call in a loop over a loader or over batches. One for each epoch is left alone.

    ## Why it matters on a cluster

    The call waits for the GPU and gives memory back that the next step asks for again, which costs more than
    the step itself may take. It frees nothing that is in use, so that it does not help against an
    out-of-memory error either.

    ## Bad example

    ```python
    import torch


    def train(model, loader):
        for batch in loader:
            model(batch).mean().backward()
            torch.cuda.empty_cache()  # <-- here
    ```

    ## Good example

    ```python
    import torch


    def train(model, loader):
        for batch in loader:
            model(batch).mean().backward()
        torch.cuda.empty_cache()
    ```

    ## Remedy

    Call it after the loop at most, and set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` against
    fragmentation.
    """

    code = "CB613"
    name = "cache-emptied-in-loop"
    severity = Severity.INFO
    words = frozenset({"empty_cache"})
    calls = frozenset({"torch.cuda.empty_cache"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the loop around the call."""
        for parent in reversed(cell.parents):
            if isinstance(parent, (ast.If, ast.FunctionDef, ast.Lambda, ast.ExceptHandler)):
                return
            if isinstance(parent, ast.For):
                words = " ".join(names_in(parent.iter) | names_in(parent.target)).lower()
                if any(word in words for word in _BATCHES):
                    self.report(cell, node, "emptying the cache for every batch waits for the GPU each time")
                return
