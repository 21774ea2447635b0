"""CB509: training without an end and without a checkpoint."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.training import saves, trains
from jupyter_clusterbridge.lint.trees import children


class EndlessTraining(Rule):
    """A loop trains for ever and saves nothing.

    ## What it does

    Reports `while True` (and `itertools.count()`) around training steps where the loop has no checkpoint in
    it. What is called like one (`save`, `checkpoint`, `dump`) counts.

    ## Why it matters on a cluster

    A person stops such a loop when the curve looks well. A job runs into its time limit and is killed: all
    that it has learned is lost, as it is when the node goes away before.

    ## Bad example

    ```python
    while True:  # <-- here
        loss = model(next(batches))
        loss.backward()
        optimizer.step()
    ```

    ## Good example

    ```python
    for step in range(10_000):
        loss = model(next(batches))
        loss.backward()
        optimizer.step()
    while True:
        loss = model(next(batches))
        loss.backward()
        torch.save(model.state_dict(), "last.pt")
        if loss < 0.1:
            break
    ```

    ## Remedy

    Give the loop a number of steps, and write a checkpoint every few minutes from which the job goes on.
    """

    code = "CB509"
    name = "endless-training"
    words = frozenset({"while True", "while 1", "while(True", "count("})

    def visit_While(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``while True``."""
        assert isinstance(node, ast.While)
        if isinstance(node.test, ast.Constant) and node.test.value:
            self._consider(node, "while True", cell)

    def visit_For(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``for step in itertools.count()``."""
        assert isinstance(node, ast.For)
        if isinstance(node.iter, ast.Call) and cell.resolve(node.iter.func) == "itertools.count":
            self._consider(node, "itertools.count()", cell)

    def _consider(self, node: ast.While | ast.For, shown: str, cell: CellContext) -> None:
        if not trains(node.body) or saves(node.body):
            return
        if _leaves(node.body):
            return
        self.report(cell, node, f"`{shown}` trains until the job is killed, and no checkpoint is written")


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether the loop can end by itself."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Break, ast.Return, ast.Raise)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo += children(node)
    return False
