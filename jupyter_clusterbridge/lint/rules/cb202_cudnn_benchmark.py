"""CB202: cuDNN chooses its kernels by timing them."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_SETTING = "torch.backends.cudnn.benchmark"


class CudnnBenchmark(Rule):
    """cuDNN's benchmark mode is switched on.

    ## What it does

    Reports `torch.backends.cudnn.benchmark = True` and `benchmark=True` of a Lightning `Trainer`. It
    concerns CUDA only.

    ## Why it matters on a cluster

    cuDNN then times several algorithms and takes the fastest. On a busy node another one wins, with other
    rounding, so that two runs of one job differ although seeds and data are equal. With inputs of changing
    shape it also makes steps slower, again and again.

    ## Bad example

    ```python
    import torch

    torch.backends.cudnn.benchmark = True  # <-- here
    ```

    ## Good example

    ```python
    import torch

    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    ```

    ## Remedy

    Leave `torch.backends.cudnn.benchmark` at False, and set `torch.backends.cudnn.deterministic = True`
    where runs must be equal.
    """

    code = "CB202"
    name = "cudnn-benchmark"

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at assignments to the setting."""
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if (
                isinstance(target, ast.Attribute)
                and target.attr == "benchmark"
                and cell.resolve(target) == _SETTING
            ):
                self._report_if_on(node.value, node, cell)

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at Lightning's argument."""
        assert isinstance(node, ast.Call)
        if cell.callee is not None and cell.callee.endswith(("lightning.Trainer", "lightning.pytorch.Trainer")):
            self._report_if_on(argument(node, "benchmark"), node, cell)

    def _report_if_on(self, value: ast.expr | None, node: ast.AST, cell: CellContext) -> None:
        if is_constant(value, True, cell):
            self.report(
                cell, node, "cuDNN's benchmark mode picks kernels by timing, another one in each run (CUDA only)"
            )
