"""CB206: determinism without the workspace that cuBLAS needs for it."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext, installed_torch
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import asks_for_determinism
from jupyter_clusterbridge.model.findings import Severity

_NAME = "CUBLAS_WORKSPACE_CONFIG"
NOT_NEEDED_SINCE = (2, 10)
"""First torch that no longer asks for it by its documentation."""


class CublasWorkspace(Rule):
    """Determinism is asked for, and `CUBLAS_WORKSPACE_CONFIG` is not set.

    ## What it does

    Reports `torch.use_deterministic_algorithms(True)` in a notebook that uses CUDA and never mentions
    `CUBLAS_WORKSPACE_CONFIG`. torch 2.2 to 2.9 raise at the first matrix product then; from 2.10 on the
    documentation no longer asks for it and the finding is of info level, as it is where the version is not
    known.

    ## Why it matters on a cluster

    On a CPU nothing happens. On the job's GPU the first `Linear` layer raises a `RuntimeError`.

    ## Bad example

    ```python
    import torch

    torch.use_deterministic_algorithms(True)  # <-- here
    model = torch.nn.Linear(4, 2).to("cuda")
    ```

    ## Good example

    ```python
    import os

    import torch

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Linear(4, 2).to("cuda")
    ```

    ## Remedy

    Set `CUBLAS_WORKSPACE_CONFIG=:4096:8` in the job's environment, or in the first cell before anything uses
    CUDA.
    """

    code = "CB206"
    name = "cublas-workspace"
    severity = Severity.INFO
    words = frozenset({"use_deterministic_algorithms", "set_deterministic_debug_mode"})
    calls = frozenset({"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done = _NAME in notebook.source or not notebook.uses_cuda

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the switch."""
        if self._done or asks_for_determinism(node, cell) is None:
            return
        version = installed_torch()
        raises = version is not None and version < NOT_NEEDED_SINCE and bool(asks_for_determinism(node, cell))
        severity = Severity.WARNING if raises else Severity.INFO
        message = f"matrix products on CUDA need `{_NAME}` for this in torch before 2.10"
        self._done = self.report(cell, node, message, severity=severity)
