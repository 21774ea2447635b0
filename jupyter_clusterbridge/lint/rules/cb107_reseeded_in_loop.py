"""CB107: a seed that is set anew in each step."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import constant, names_in
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.randomness import streams_seeded
from jupyter_clusterbridge.lint.rule import Rule

_STEPS = re.compile(r"epochs?|steps?|batch(es)?|batch_idx|iteration|iter|it|ep|episode", re.IGNORECASE)


class ReseededInLoop(Rule):
    """A global stream gets the same seed in every step of a training loop.

    ## What it does

    Reports a seed with a fixed number in a `for` loop over epochs, steps, batches or episodes. A seed that
    hangs on the loop's variable is left alone, and so is a loop over models or seeds, where starting
    each from the same stream is meant.

    ## Why it matters on a cluster

    Every epoch sees the same order, the same dropout and the same augmentation, so that a long job learns
    less than its number of epochs says.

    ## Bad example

    ```python
    import torch

    for epoch in range(10):
        torch.manual_seed(0)  # <-- here
        order = torch.randperm(100)
    ```

    ## Good example

    ```python
    import torch

    torch.manual_seed(0)
    for epoch in range(10):
        order = torch.randperm(100)
    ```

    ## Remedy

    Seed once above the loop, or from the step: `torch.manual_seed(SEED + epoch)`.
    """

    code = "CB107"
    name = "reseeded-in-loop"
    words = frozenset({"seed"})

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at seeds in loops."""
        assert isinstance(node, ast.Call)
        if not cell.parents or not streams_seeded(node, cell) or not node.args:
            return
        if not isinstance(constant(node.args[0], cell), int):
            return
        loop = _innermost_loop(cell)
        if loop is not None and any(_STEPS.fullmatch(name) for name in names_in(loop.target)):
            self.report(cell, node, f"`{ast.unparse(node)}` starts the same stream again in every step")


def _innermost_loop(cell: CellContext) -> ast.For | None:
    for node in reversed(cell.parents):
        if isinstance(node, ast.For):
            return node
        # what only some steps do, or a function that is defined here, does not seed every step
        if isinstance(node, (ast.If, ast.While, ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return None
    return None
