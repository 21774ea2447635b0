"""CB202: cuDNN chooses its kernels by timing them."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace
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

    words = frozenset({"benchmark"})
    calls = frozenset({"lightning.Trainer", "lightning.pytorch.Trainer", "pytorch_lightning.Trainer"})

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

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at Lightning's argument."""
        self._report_if_on(argument(node, "benchmark"), node, cell)

    def _report_if_on(self, value: ast.expr | None, node: ast.AST, cell: CellContext) -> None:
        if value is not None and is_constant(value, True, cell):
            message = "cuDNN's benchmark mode picks kernels by timing, another one in each run (CUDA only)"
            self.report(cell, node, message, fix=replace(value, "False", cell, "Switch the benchmark mode off"))
