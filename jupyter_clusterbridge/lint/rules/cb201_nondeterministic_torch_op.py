"""CB201: torch operations whose result depends on the order of atomic additions."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext, installed_torch
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import CALLS, METHODS, asks_for_determinism, torch_operation, trains
from jupyter_clusterbridge.lint.torch_ops import NondeterministicOp
from jupyter_clusterbridge.model.findings import Confidence, Severity

_SWITCHES = frozenset({"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"})
_TRAINERS = frozenset({"seed_everything", "Trainer", "TrainingArguments"})


class NondeterministicTorchOp(Rule):
    """A torch operation that has no deterministic default is used, and determinism is not asked for.

    ## What it does

    Reports operations that torch documents as nondeterministic, such as `scatter_add_`, `index_add_`,
    bilinear `interpolate`, `AdaptiveAvgPool2d` or `CTCLoss`, in a notebook that never calls
    `torch.use_deterministic_algorithms(True)`. The table is keyed by torch version (2.2 to 2.14); the
    version installed beside ClusterBridge decides, or the newest. Device, direction and type decide the
    level: an operation that is nondeterministic on CUDA only is of info level in a notebook that never
    mentions CUDA, one that is so in the backward pass is left out where nothing is trained, and convolutions
    and the like, which are in nearly every network, are told once for the notebook as info.

    With `%clusterbridge determinism on` in the notebook torch itself names the operations while the cells run;
    `clusterbridge check` then lists them here with cell and line. It is not on by itself, because torch's
    debug mode takes other algorithms for some operations, so the numbers of the notebook would change.

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
    words = frozenset({"torch"})
    calls = CALLS | _SWITCHES
    methods = METHODS | _TRAINERS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._switched = False
        self._seen: dict[str, tuple[ast.Call, CellContext, NondeterministicOp]] = {}

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather operations and the switch."""
        if asks_for_determinism(node, cell) is not None:
            self._switched = True
            return
        called = (cell.callee or "").rpartition(".")[2]
        if called in _TRAINERS:
            self._switched = self._switched or argument(node, "deterministic") is not None
            return
        found = torch_operation(node, cell)
        if found is not None and not found[1].rare:
            self._seen.setdefault(found[0], (node, cell, found[1]))

    def end_notebook(self) -> None:
        """Report each operation once, where determinism was never asked for."""
        if self._switched:
            return
        ordinary = [name for name, (_, _, op) in self._seen.items() if op.ordinary]
        for name, (node, cell, op) in self._seen.items():
            if not op.ordinary:
                self._report(name, op, node, cell)
        if ordinary and self.notebook.uses_cuda and trains(self.notebook):
            node, cell, _ = self._seen[ordinary[0]]
            shown = ", ".join(f"`{name}`" for name in ordinary)
            message = f"{shown} may be nondeterministic on CUDA, and determinism is not asked for"
            self.report(cell, node, message, severity=Severity.INFO, confidence=Confidence.MEDIUM)

    def _report(self, name: str, op: NondeterministicOp, node: ast.Call, cell: CellContext) -> None:
        where = " on CUDA" if op.cuda_only else ""
        message = f"`{name}` is nondeterministic{where} ({op.when})"
        if op.raises(installed_torch()):
            message += " and has no deterministic form"
        if op.cuda_only and not self.notebook.uses_cuda:
            self.report(cell, node, f"{message}; CUDA only", severity=Severity.INFO)
        elif op.doubtful:
            self.report(cell, node, message, severity=Severity.INFO, confidence=Confidence.MEDIUM)
        else:
            self.report(cell, node, message, confidence=Confidence.MEDIUM)
