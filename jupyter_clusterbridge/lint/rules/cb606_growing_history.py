"""CB606: model outputs that a list keeps with their graphs."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import under_no_grad
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_MODEL = re.compile(r"(self\.)?(model|net|network|encoder|decoder|generator|classifier|\w*_(net|encoder|decoder))")


class GrowingHistory(Rule):
    """The outputs of a model are kept in a list in every step, with their graphs and on the device.

    ## What it does

    Reports `outputs.append(output)` in a training loop, where `output = model(...)` stands in the same loop,
    the loop calls `backward`, and `output` is neither detached nor moved. The loss itself is the matter of CB602.

    ## Why it matters on a cluster

    The list keeps the graph of every step and its memory on the GPU, until the job ends with an
    out-of-memory error in the middle of an epoch.

    ## Bad example

    ```python
    import torch


    def train(model, batches, loss_of, optimizer):
        outputs = []
        for batch in batches:
            output = model(batch)
            loss_of(output).backward()
            optimizer.step()
            outputs.append(output)  # <-- here
        return outputs
    ```

    ## Good example

    ```python
    import torch


    def train(model, batches, loss_of, optimizer):
        outputs = []
        for batch in batches:
            output = model(batch)
            loss_of(output).backward()
            optimizer.step()
            outputs.append(output.detach().cpu())
        return outputs
    ```

    ## Remedy

    Append `output.detach().cpu()`, or only the numbers that are used afterwards.
    """

    code = "CB606"
    name = "growing-history"
    confidence = Confidence.MEDIUM
    words = frozenset({"backward"})
    methods = frozenset({"append"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._loops: dict[int, set[str]] = {}

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what is kept."""
        kept = node.args[0] if len(node.args) == 1 else None
        loop = _loop(cell)
        if not isinstance(kept, ast.Name) or loop is None or "torch" not in self.notebook.source:
            return
        outputs = self._loops.get(id(loop))
        if outputs is None:
            outputs = self._loops[id(loop)] = _outputs(loop)
        if kept.id in outputs and not under_no_grad(cell) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            self.report(cell, node, f"`{owner}` keeps `{kept.id}` of every step with its graph")


def _loop(cell: CellContext) -> ast.For | None:
    """The loop whose every pass runs the visited node."""
    for node in reversed(cell.parents):
        if isinstance(node, ast.For):
            return node
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.While)):
            return None
    return None


def _outputs(loop: ast.For) -> set[str]:
    """Names that a training loop binds to a model's output and to nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    trains = False
    for node in descend(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            trains = True
            # the loss itself is the matter of CB602
            others.update(part.id for part in (node.func.value, *node.args) if isinstance(part, ast.Name))
        elif isinstance(node, ast.Assign):
            called = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            (found if _MODEL.fullmatch(called) else others).update(names)
    return found - others if trains else set()
