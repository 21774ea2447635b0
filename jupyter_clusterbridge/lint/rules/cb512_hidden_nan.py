"""CB512: a loss that has become NaN and is not shown as such."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import names_a_loss
from jupyter_clusterbridge.model.findings import Confidence

_FILLS = frozenset({"torch.nan_to_num", "numpy.nan_to_num", "jax.numpy.nan_to_num", "tensorflow.math.nan_to_num"})
_SKIPS = frozenset(
    {"torch.nanmean", "numpy.nanmean", "numpy.nanmedian", "numpy.nansum", "torch.nansum", "jax.numpy.nanmean"}
)
_ASKS = {"isnan", "isinf", "isfinite", "is_nan", "is_finite"}


class HiddenNan(Rule):
    """Code hides that the loss has become NaN.

    ## What it does

    Reports `nan_to_num` on a loss, `nanmean` and the like over losses, a loss that is set to a constant where
    it is NaN, and conditions in a loop that leave out the step or the log of a loss that is NaN.

    ## Why it matters on a cluster

    The curve looks well while the weights are NaN or nothing is learned any more. No person sees that, and
    no guard on the logged loss can.

    ## Bad example

    ```python
    import numpy as np
    import torch

    losses = []
    for batch in batches:
        loss = model(batch)
        if torch.isnan(loss):  # <-- here
            continue
        loss.backward()
        losses.append(loss.item())
    print(np.nanmean(losses))  # <-- here
    ```

    ## Good example

    ```python
    import numpy as np
    import torch

    losses = []
    for batch in batches:
        loss = model(batch)
        if not torch.isfinite(loss):
            raise RuntimeError(f"the loss is {loss.item()}")
        loss.backward()
        losses.append(loss.item())
    print(np.mean(losses))
    ```

    ## Remedy

    Stop when the loss is not finite, or count such steps and stop after a few; log the loss as it is.
    """

    code = "CB512"
    name = "hidden-nan"
    confidence = Confidence.MEDIUM
    words = frozenset({"nan", "isinf", "isfinite", "is_finite"})
    calls = _FILLS | _SKIPS
    methods = frozenset({"nan_to_num", "nan_to_num_", "nanmean"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at functions that replace or skip NaN."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if cell.callee in self.calls or isinstance(node.func, ast.Name):
            value = node.args[0] if node.args else None
        else:
            value = node.func.value if isinstance(node.func, ast.Attribute) else None
        if value is not None and names_a_loss(value):
            self.report(cell, node, f"`{name}` hides that a loss is NaN")

    def visit_If(self, node: ast.AST, cell: CellContext) -> None:
        """Look at conditions about a NaN loss."""
        assert isinstance(node, ast.If)
        negative = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
        test = node.test.operand if isinstance(node.test, ast.UnaryOp) and negative else node.test
        asked = _asked_of_a_loss(test)
        if asked is None or node.orelse or not cell.in_loop():
            return
        when_nan = (asked in ("isfinite", "is_finite")) == negative
        if when_nan and len(node.body) == 1 and _says_nothing(node.body[0]):
            self.report(cell, node, "batches whose loss is NaN are skipped without a word")
        elif not when_nan and not any(
            isinstance(part, (ast.Continue, ast.Break, ast.Return)) for part in node.body
        ):
            self.report(cell, node, "what follows a loss that is NaN is left out without a word")

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``loss[isnan(loss)] = 0``."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and _asked_of_a_loss(target.slice) and names_a_loss(target.value):
            self.report(cell, node, "a loss that is NaN is replaced")


def _asked_of_a_loss(node: ast.expr) -> str | None:
    """The question in ``isnan(loss)``, ``loss.isnan()`` and ``isnan(loss).any()``; None for any other thing."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("any", "all"):
        node = node.args[0] if node.args else node.func.value
    if not isinstance(node, ast.Call):
        return None
    asked = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    value = node.args[0] if node.args else getattr(node.func, "value", None)
    return asked if asked in _ASKS and value is not None and names_a_loss(value) else None


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement goes on, or puts a constant in the place of the loss."""
    if isinstance(statement, ast.Assign):
        return isinstance(statement.value, ast.Constant) and names_a_loss(statement.targets[0])
    return isinstance(statement, (ast.Continue, ast.Pass))
