"""CB207: kernels that are chosen by timing them."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_MODES = ("max-autotune", "max-autotune-no-cudagraphs")
_SETTINGS = frozenset({"max_autotune", "max_autotune_gemm", "max_autotune_pointwise", "coordinate_descent_tuning"})


class AutotunedKernels(Rule):
    """torch.compile tunes its kernels by timing them.

    ## What it does

    Reports `torch.compile(mode="max-autotune")`, the same among `options`, `max_autotune` and
    `coordinate_descent_tuning` of inductor's configuration, unless the notebook asks for
    `torch.use_deterministic_algorithms(True)`, which switches tuning off from torch 2.10 on.

    ## Why it matters on a cluster

    Which kernel wins hangs on the GPU's model and on what else runs on the node. Another kernel adds in
    another order, so that two runs of one job differ; and each job spends minutes on tuning anew, since the
    cache is not in its container.

    ## Bad example

    ```python
    import torch

    model = torch.compile(torch.nn.Linear(4, 2), mode="max-autotune")  # <-- here
    ```

    ## Good example

    ```python
    import torch

    model = torch.compile(torch.nn.Linear(4, 2))
    ```

    ## Remedy

    Compile without `max-autotune` where runs must be equal.
    """

    code = "CB207"
    name = "autotuned-kernels"
    confidence = Confidence.MEDIUM
    words = frozenset({"max-autotune", "max_autotune", "coordinate_descent_tuning"})
    calls = frozenset({"torch.compile", "torch._inductor.list_mode_options"})

    _MESSAGE = "kernels are chosen by timing them, other ones on another node"

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the mode and the options."""
        if "use_deterministic_algorithms" in self.notebook.source:
            return
        options = argument(node, "options")
        tuned = isinstance(options, ast.Dict) and any(
            isinstance(key, ast.Constant) and key.value in _SETTINGS and is_constant(value, True, cell)
            for key, value in zip(options.keys, options.values, strict=True)
        )
        if tuned or constant(argument(node, "mode"), cell) in _MODES:
            self.report(cell, node, self._MESSAGE)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at inductor's configuration."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr not in _SETTINGS:
            return
        name = cell.resolve(target) or ""
        if name.startswith("torch._inductor.config.") and is_constant(node.value, True, cell):
            self.report(cell, node, self._MESSAGE)
