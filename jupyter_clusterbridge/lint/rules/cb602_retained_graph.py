"""CB602: a sum of losses that keeps every graph alive."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import method
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import under_no_grad
from jupyter_clusterbridge.lint.trees import descend


class RetainedGraph(Rule):
    """A loss is added up or kept with its autograd graph.

    ## What it does

    Reports `total += loss` and `losses.append(loss)` in a loop, where `loss.backward()` is called in the
    same function or cell, so that `loss` is a tensor with a graph, and `total` itself is not
    differentiated.

    ## Why it matters on a cluster

    Each graph stays alive until the epoch ends, so that memory grows by every step. On a laptop with a
    small data set nobody notices; the job is ended by its memory limit in the middle of an epoch.

    ## Bad example

    ```python
    def train(batches, model, optimizer):
        total = 0.0
        for batch in batches:
            loss = model(batch)
            loss.backward()
            optimizer.step()
            total += loss  # <-- here
        return total
    ```

    ## Good example

    ```python
    def train(batches, model, optimizer):
        total = 0.0
        for batch in batches:
            loss = model(batch)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total
    ```

    ## Remedy

    Add `loss.item()`, or `loss.detach()` where waiting for the GPU in each step is too slow.
    """

    code = "CB602"
    name = "retained-graph"
    words = frozenset({"backward"})
    methods = frozenset({"backward", "append"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._clear()

    def _clear(self) -> None:
        self._differentiated: set[tuple[ast.AST | None, str]] = set()
        self._needed: set[tuple[ast.AST | None, str]] = set()
        """What a backward pass reads at all, such as the list in ``sum(losses).backward()``."""
        self._kept: list[tuple[ast.AST | None, ast.AST, str, str]] = []

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather calls of ``backward`` and ``append``."""
        name = method(node)
        if name == "backward" and isinstance(node.func, ast.Attribute):
            self._differentiated.update((cell.function, name) for name in _tensors(node.func.value))
            for inner in descend(node.func.value):
                if isinstance(inner, ast.Name):
                    self._needed.add((cell.function, inner.id))
            for argument in node.args:
                # accelerator.backward(loss), scaler.scale(loss).backward()
                if isinstance(argument, ast.Name):
                    self._differentiated.add((cell.function, argument.id))
        elif name == "append" and len(node.args) == 1 and not node.keywords:
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
            if isinstance(receiver, ast.Name):
                self._keep(node, receiver.id, node.args[0], cell)

    def visit_AugAssign(self, node: ast.AST, cell: CellContext) -> None:
        """Gather sums."""
        assert isinstance(node, ast.AugAssign)
        if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            self._keep(node, node.target.id, node.value, cell)

    def end_cell(self, cell: CellContext) -> None:
        """Report what keeps a differentiated value."""
        for function, node, target, value in self._kept:
            if (function, value) in self._differentiated and (function, target) not in self._needed:
                self.report(cell, node, f"`{target}` keeps `{value}` with its graph in every step")
        self._clear()

    def _keep(self, node: ast.AST, target: str, value: ast.expr, cell: CellContext) -> None:
        name = _bare_name(value)
        if name is not None and cell.in_loop() and not under_no_grad(cell):
            self._kept.append((cell.function, node, target, name))


def _bare_name(value: ast.expr) -> str | None:
    """The name that a value is, also when it is scaled: ``loss * n`` keeps the graph of ``loss``."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        return _bare_name(value.left) or _bare_name(value.right)
    return value.id if isinstance(value, ast.Name) else None


def _tensors(value: ast.expr) -> list[str]:
    """Names of what ``backward`` is called on, through sums and methods; not what a function is given."""
    if isinstance(value, ast.Name):
        return [value.id]
    if isinstance(value, ast.BinOp):
        return [*_tensors(value.left), *_tensors(value.right)]
    if isinstance(value, (ast.Attribute, ast.Subscript)):
        return _tensors(value.value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        scaled = value.args if value.func.attr == "scale" else []
        return [*_tensors(value.func.value), *(name for argument in scaled for name in _tensors(argument))]
    return []
