"""CB521: training that a person ends."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import LOOPS, STEPS, called_names
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Severity

_TRAINS = STEPS | {"fit", "train", "train_epoch", "train_one_epoch", "learn", "fine_tune"}


class StoppedByHand(Rule):
    """Training is written to be ended by a person who presses the stop button.

    ## What it does

    Reports, as information, `except KeyboardInterrupt` around a call or a loop that trains, where the
    handler does not raise again.

    ## Why it matters on a cluster

    Nobody presses it. What the handler does (saving the best model, drawing curves) never happens; the job
    is ended by a signal at its time limit instead. The step at which the person stopped is in no file, so
    that no job can repeat it.

    ## Bad example

    ```python
    try:
        for epoch in range(1000):
            train_one_epoch(model)
    except KeyboardInterrupt:  # <-- here
        save(model)
    ```

    ## Good example

    ```python
    for epoch in range(1000):
        train_one_epoch(model)
        if patience_is_used_up(model):
            break
    save(model)
    ```

    ## Remedy

    Write down when to stop: a number of steps, or early stopping on a validation metric.
    """

    code = "CB521"
    name = "stopped-by-hand"
    severity = Severity.INFO
    words = frozenset({"KeyboardInterrupt"})

    def visit_Try(self, node: ast.AST, cell: CellContext) -> None:
        """Look at handlers around training."""
        assert isinstance(node, ast.Try)
        names = set(called_names(node.body))
        if _TRAINS.isdisjoint(names):
            return
        loops = any(isinstance(part, LOOPS) for part in node.body) or cell.in_loop()
        if not loops and _TRAINS.isdisjoint(names - STEPS):
            return
        for handler in node.handlers:
            caught = handler.type is not None and cell.resolve(handler.type) == "builtins.KeyboardInterrupt"
            again = any(isinstance(inner, ast.Raise) for part in handler.body for inner in descend(part))
            if caught and not again:
                self.report(cell, handler, "the training ends when a person stops it")
