"""CB609: a setting of torch's allocator after the GPU is in use."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.environ import set_variable
from jupyter_clusterbridge.lint.rule import Rule

_NAMES = frozenset(
    {
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_ALLOC_CONF",
        "CUDA_LAUNCH_BLOCKING",
        "XLA_PYTHON_CLIENT_PREALLOCATE",
        "XLA_PYTHON_CLIENT_MEM_FRACTION",
    }
)


class AllocatorSettingTooLate(Rule):
    """A setting of the GPU's allocator is made after something was put on the GPU.

    ## What it does

    Reports `os.environ["PYTORCH_CUDA_ALLOC_CONF"] = ...` and `CUDA_LAUNCH_BLOCKING` below the first
    `.cuda()`, `.to("cuda")` or `device="cuda"`, and the settings `XLA_PYTHON_CLIENT_...` below the first
    call of `jax.numpy` or `jax.random`.

    ## Why it matters on a cluster

    The library reads the setting once, when it first uses the GPU. The job then fragments its memory or
    takes all of it, although the notebook looks as if it had been told otherwise.

    ## Bad example

    ```python
    import os

    import torch

    weights = torch.ones(1000, device="cuda")
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # <-- here
    ```

    ## Good example

    ```python
    import os

    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

    import torch

    weights = torch.ones(1000, device="cuda")
    ```

    ## Remedy

    Set the variable in the job's environment, or in the first cell above the imports.
    """

    code = "CB609"
    name = "allocator-setting-too-late"
    words = _NAMES
    methods = frozenset({"cuda", "to", "ones", "zeros", "randn", "rand", "tensor", "empty"})
    calls = frozenset({"jax.numpy.*", "jax.random.*"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._torch = False
        self._jax = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note the first use of the GPU."""
        if cell.function is not None:
            return
        if (cell.callee or "").startswith("jax."):
            self._jax = True
            return
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        device = argument(node, "device") or (node.args[0] if called == "to" and node.args else None)
        on_cuda = isinstance(device, ast.Constant) and str(device.value).startswith("cuda")
        self._torch = self._torch or on_cuda or called == "cuda"

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at the settings."""
        name = set_variable(node, cell)
        if name not in _NAMES or cell.function is not None:
            return
        if self._jax if name.startswith("XLA") else self._torch:
            self.report(cell, node, f"`{name}` is set after the GPU was first used, and has no effect any more")
