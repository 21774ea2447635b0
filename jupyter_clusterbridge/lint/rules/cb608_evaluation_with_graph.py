"""CB608: evaluation that records gradients."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import under_no_grad
from jupyter_clusterbridge.model.findings import Confidence

_OFF = ("set_grad_enabled(False)", "requires_grad_(False)", "enable_grad", "requires_grad = False")
_USES_GRADIENT = ("backward(", "autograd", ".grad", "requires_grad")


class EvaluationWithGraph(Rule):
    """A model is put into evaluation mode and run over a loop, and gradients are recorded.

    ## What it does

    Reports the call of a model in a loop below `model.eval()` in the same function or cell, when neither
    `torch.no_grad` nor `torch.inference_mode` is around it and nothing there uses a gradient.

    ## Why it matters on a cluster

    `eval()` changes dropout and batch norm and leaves autograd on. Each batch keeps its activations, which
    about doubles the memory: a validation that fits the notebook's small sample ends the job.

    ## Bad example

    ```python
    import torch


    def evaluate(model, batches):
        model.eval()
        right = 0
        for inputs, labels in batches:
            right += (model(inputs).argmax(1) == labels).sum().item()  # <-- here
        return right
    ```

    ## Good example

    ```python
    import torch


    @torch.inference_mode()
    def evaluate(model, batches):
        model.eval()
        right = 0
        for inputs, labels in batches:
            right += (model(inputs).argmax(1) == labels).sum().item()
        return right
    ```

    ## Remedy

    Put `with torch.no_grad():` around the loop or `@torch.inference_mode()` above the function.
    """

    code = "CB608"
    name = "evaluation-with-graph"
    confidence = Confidence.MEDIUM
    words = frozenset({".eval()"})
    methods = frozenset({"eval", "train"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        self._off = "torch" not in source or any(word in source for word in _OFF)
        self._modes: dict[tuple[int | None, str], bool] = {}

    def begin_cell(self, cell: CellContext) -> None:
        """Modes are followed within a cell."""
        self._modes.clear()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note the mode of each model."""
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and not self._off:
            function = cell.function
            place = (id(function) if function is not None else None, node.func.value.id)
            self._modes[place] = node.func.attr == "eval"

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at calls of a model in evaluation mode."""
        assert isinstance(node, ast.Call)
        if not self._modes or not isinstance(node.func, ast.Name):
            return
        function = cell.function
        place = (id(function) if function is not None else None, node.func.id)
        if not self._modes.get(place) or not cell.in_loop() or under_no_grad(cell):
            return
        around = ast.unparse(function) if function is not None else cell.cell.source
        if not any(word in around for word in _USES_GRADIENT):
            name = node.func.id
            if self.report(cell, node, f"`{name}` is evaluated with gradients on and builds a graph in each pass"):
                self._modes[place] = False
