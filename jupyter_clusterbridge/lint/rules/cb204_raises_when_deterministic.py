"""CB204: torch operations that raise once determinism is asked for."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext, installed_torch
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import CALLS, METHODS, asks_for_determinism, torch_operation
from jupyter_clusterbridge.lint.torch_ops import NondeterministicOp
from jupyter_clusterbridge.model.findings import Confidence, Severity


class RaisesWhenDeterministic(Rule):
    """The notebook asks torch for determinism and uses an operation that has no deterministic form.

    ## What it does

    Reports operations that raise a `RuntimeError` after `torch.use_deterministic_algorithms(True)` or
    `torch.set_deterministic_debug_mode("error")`, by the table of the torch version. It is an error where
    the operation raises on every device or the notebook needs CUDA, a warning where it uses CUDA when there
    is one, and info where CUDA is not mentioned. Operations that raise in the backward pass count only where
    something is trained, and `warn_only=True` silences the rule.

    ## Why it matters on a cluster

    On the notebook's CPU most of these operations are deterministic and pass. On the job's GPU the first
    step raises.

    ## Bad example

    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    pool = torch.nn.AdaptiveAvgPool2d(1).to("cuda")  # <-- here
    image = torch.ones(1, 3, 8, 8, device="cuda", requires_grad=True)
    pool(image).sum().backward()
    ```

    ## Good example

    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    image = torch.ones(1, 3, 8, 8, device="cuda", requires_grad=True)
    image.mean(dim=(2, 3)).sum().backward()
    ```

    ## Remedy

    Replace the operation (a mean over the last axes does what `AdaptiveAvgPool2d(1)` does), or pass
    `warn_only=True` and accept that runs differ.
    """

    code = "CB204"
    name = "raises-when-deterministic"
    severity = Severity.ERROR
    words = frozenset({"use_deterministic_algorithms", "set_deterministic_debug_mode"})
    calls = CALLS | {"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"}
    methods = METHODS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._asked: list[bool] = []
        self._seen: dict[str, tuple[ast.Call, CellContext, NondeterministicOp]] = {}

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather operations and what the notebook asks for."""
        if "deterministic" in (cell.callee or ""):
            self._asked.append(asks_for_determinism(node, cell) is True)
            return
        found = torch_operation(node, cell)
        if found is not None and found[1].raises(installed_torch()):
            self._seen.setdefault(found[0], (node, cell, found[1]))

    def end_notebook(self) -> None:
        """Report what raises, unless the notebook also takes its wish back."""
        if not self._asked or not all(self._asked):
            return
        for name, (node, cell, op) in self._seen.items():
            where = " on CUDA" if op.cuda_only else ""
            message = f"`{name}` has no deterministic form and raises{where} ({op.when})"
            severity = self._severity(op)
            confidence = Confidence.HIGH if severity is Severity.ERROR else Confidence.MEDIUM
            self.report(cell, node, message, severity=severity, confidence=confidence)

    def _severity(self, op: NondeterministicOp) -> Severity:
        if op.doubtful or (op.cuda_only and not self.notebook.uses_cuda):
            return Severity.INFO
        if op.cuda_only and "is_available" in self.notebook.source:
            return Severity.WARNING
        return Severity.ERROR
