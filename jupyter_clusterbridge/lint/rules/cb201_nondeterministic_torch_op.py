"""CB201: torch operations whose result depends on the order of atomic additions."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint import torch_ops
from jupyter_clusterbridge.lint.calls import argument, constant, is_constant, method
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext, installed_torch
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_ops import NondeterministicOp
from jupyter_clusterbridge.model.findings import Confidence, Severity

_SWITCHES = ("torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode")
_TRAINERS = ("seed_everything", "Trainer", "TrainingArguments")


class NondeterministicTorchOp(Rule):
    """A torch operation that has no deterministic default is used, and determinism is not asked for.

    ## What it does

    Reports operations that torch documents as nondeterministic, such as `scatter_add_`, `index_add_`,
    bilinear `interpolate`, `AdaptiveAvgPool2d` or `CTCLoss`, in a notebook that never calls
    `torch.use_deterministic_algorithms(True)`. The table is keyed by torch version; the version installed
    beside ClusterBridge decides, or the newest. Operations that are nondeterministic on CUDA only say so,
    and are of info level in a notebook that never mentions CUDA.

    ## Why it matters on a cluster

    Atomic additions happen in another order in each run, so two runs of one job differ in the last bits
    and, after some thousand steps, in the model. A notebook that ran on a CPU has never shown it.

    ## Bad example

    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    index = torch.tensor([0, 0, 1], device=device)
    total = torch.zeros(2, device=device)
    total.scatter_add_(0, index, torch.ones(3, device=device))  # <-- here
    ```

    ## Good example

    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    index = torch.tensor([0, 0, 1], device=device)
    total = torch.zeros(2, device=device)
    total.scatter_add_(0, index, torch.ones(3, device=device))
    ```

    ## Remedy

    Call `torch.use_deterministic_algorithms(True)` in the first cell, set
    `CUBLAS_WORKSPACE_CONFIG=:4096:8`, and replace operations that then raise.
    """

    code = "CB201"
    name = "nondeterministic-torch-op"

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._switched = False
        self._seen: dict[str, tuple[ast.Call, CellContext, NondeterministicOp]] = {}

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Gather operations and the switch."""
        assert isinstance(node, ast.Call)
        if cell.callee in _SWITCHES:
            self._switched = self._switched or not (
                node.args and constant(node.args[0], cell) in (False, 0, "default")
            )
            return
        if argument(node, "deterministic") is not None and (cell.callee or "").rpartition(".")[2] in _TRAINERS:
            self._switched = True
        name = cell.callee.rpartition(".")[2] if cell.callee else (method(node) or "")
        if name in self._seen:
            return
        op = _operation(node, cell)
        if op is not None and op.applies(installed_torch()):
            self._seen[name] = (node, cell, op)

    def end_notebook(self) -> None:
        """Report each operation once, where determinism was never asked for."""
        if self._switched or "torch" not in self.notebook.source:
            return
        for name, (node, cell, op) in self._seen.items():
            where = " on CUDA" if op.cuda_only else ""
            message = f"`{name}` is nondeterministic{where} ({op.when})"
            if op.raises:
                message += " and has no deterministic form"
            if op.cuda_only and not self.notebook.uses_cuda:
                self.report(cell, node, f"{message}; CUDA only", severity=Severity.INFO)
            else:
                self.report(cell, node, message, confidence=Confidence.MEDIUM)


def _operation(node: ast.Call, cell: CellContext) -> NondeterministicOp | None:
    called = cell.callee
    if called is None or not called.startswith("torch."):
        return _tensor_method(node, cell) if called is None or "." not in called else None
    if called in torch_ops.INTERPOLATE_NAMES:
        mode = argument(node, "mode", 2 if called.endswith("Upsample") else 3)
        return torch_ops.INTERPOLATE if constant(mode, cell) in torch_ops.INTERPOLATE_MODES else None
    if called == "torch.bincount":
        return torch_ops.BINCOUNT if argument(node, "weights", 1) is not None else None
    if called == "torch.nn.EmbeddingBag":
        return torch_ops.EMBEDDING_BAG_MAX if is_constant(argument(node, "mode"), "max", cell) else None
    return torch_ops.FUNCTIONS.get(called)


def _tensor_method(node: ast.Call, cell: CellContext) -> NondeterministicOp | None:
    name = method(node)
    if name == "put_":
        return torch_ops.PUT if is_constant(argument(node, "accumulate", 2), True, cell) else None
    if name == "index_put_" and not is_constant(argument(node, "accumulate", 2), True, cell):
        return None
    return torch_ops.METHODS.get(name or "")
