"""CB510: one checkpoint, after a long training loop."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import LOOPS, saves, trains
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence, Severity

_MANY = 20
"""Turns from which on a loop over epochs is called long."""
_WRITES = frozenset({"torch.save", "safetensors.torch.save_file"})
_METHODS = frozenset({"save_pretrained", "save_weights", "save_model", "save_state", "save_checkpoint"})


class CheckpointAtEnd(Rule):
    """A long training loop writes its only checkpoint after the last step.

    ## What it does

    Reports, as information, a loop of 20 epochs or more with another loop of training steps in it and no
    checkpoint, where the notebook saves the model further down.

    ## Why it matters on a cluster

    Nodes are taken away and jobs run into their time limit. All epochs are lost then, and the job begins
    again from the first.

    ## Bad example

    ```python
    import torch

    for epoch in range(50):  # <-- here
        for batch in loader:
            loss = model(batch)
            loss.backward()
            optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    ```

    ## Good example

    ```python
    import torch

    for epoch in range(50):
        for batch in loader:
            loss = model(batch)
            loss.backward()
            optimizer.step()
        torch.save({"epoch": epoch, "model": model.state_dict()}, "last.pt")
    ```

    ## Remedy

    Write a checkpoint with the optimizer's state after each epoch, and begin from the last one that is there.
    """

    code = "CB510"
    name = "checkpoint-at-end"
    severity = Severity.INFO
    confidence = Confidence.MEDIUM
    words = frozenset({"save"})
    calls = _WRITES
    methods = _METHODS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._loop: tuple[ast.For, int, CellContext] | None = None

    def visit_For(self, node: ast.AST, cell: CellContext) -> None:
        """Note long loops without a checkpoint."""
        assert isinstance(node, ast.For)
        turns = _turns(node.iter, cell)
        if cell.function is not None or cell.in_loop() or not trains(node.body):
            return
        self._loop = None
        if turns < _MANY or saves(node.body):
            return
        if any(isinstance(inner, LOOPS) and trains(inner.body) for part in node.body for inner in descend(part)):
            self._loop = (node, turns, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Report the loop after which a model is saved."""
        if cell.function is None and self._loop is not None:
            loop, turns, where = self._loop
            self._loop = None
            self.report(where, loop, f"the first checkpoint is written after {turns} epochs")


def _turns(iterated: ast.expr, cell: CellContext) -> int:
    """How often a loop over ``range`` turns, as far as constants tell; also within a progress bar."""
    while isinstance(iterated, ast.Call):
        name = cell.resolve(iterated.func) or ""
        if name == "builtins.range" or name.endswith("trange"):
            values = [constant(value, cell) for value in iterated.args[:2]]
            numbers = [value for value in values if isinstance(value, int)]
            if not numbers or len(numbers) < len(values):
                return 0
            return numbers[-1] - (numbers[0] if len(numbers) == 2 else 0)
        if not iterated.args:
            return 0
        iterated = iterated.args[0]
    return 0
