"""CB505: a training loop that hides its errors."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend

_BROAD = {"builtins.Exception", "builtins.BaseException"}
_TRAINING = {
    "backward",
    "step",
    "zero_grad",
    "fit",
    "partial_fit",
    "train_step",
    "training_step",
    "train_on_batch",
}


class SwallowedErrors(Rule):
    """A broad `except` in a training loop swallows every error.

    ## What it does

    Reports `except:`, `except Exception` and `except BaseException` without a `raise`, `break` or `return`,
    around training steps in a loop.

    ## Why it matters on a cluster

    A step that fails on each batch (out of memory, a corrupt file, a shape that does not fit) leaves a job
    that runs to its end, is green, and has learned from nothing. A guard that stops the training by an
    exception is swallowed too.

    ## Bad example

    ```python
    def train(batches, optimizer, loss_of):
        for batch in batches:
            try:
                loss = loss_of(batch)
                loss.backward()
                optimizer.step()
            except Exception:  # <-- here
                continue
    ```

    ## Good example

    ```python
    def train(batches, optimizer, loss_of):
        for batch in batches:
            try:
                inputs = batch.decode()
            except ValueError:
                continue
            loss = loss_of(inputs)
            loss.backward()
            optimizer.step()
    ```

    ## Remedy

    Catch the one exception that is expected, around the one call that raises it, and count how often; let
    all others through.
    """

    code = "CB505"
    name = "swallowed-errors"
    words = frozenset({"except"})

    def visit_Try(self, node: ast.AST, cell: CellContext) -> None:
        """Look at handlers around training steps."""
        assert isinstance(node, ast.Try)
        if not cell.in_loop() or not _trains(node.body):
            return
        for handler in node.handlers:
            if self._is_broad(handler.type, cell) and not _lets_through(handler):
                caught = "except:" if handler.type is None else f"except {ast.unparse(handler.type)}"
                self.report(cell, handler, f"`{caught}` around training steps swallows every error")

    def _is_broad(self, caught: ast.expr | None, cell: CellContext) -> bool:
        if isinstance(caught, ast.Tuple):
            return any(self._is_broad(item, cell) for item in caught.elts)
        return caught is None or cell.resolve(caught) in _BROAD


def _trains(body: list[ast.stmt]) -> bool:
    for statement in body:
        for node in descend(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TRAINING:
                return True
    return False


def _lets_through(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, (ast.Raise, ast.Break, ast.Return)) for inner in handler.body for node in descend(inner)
    )
