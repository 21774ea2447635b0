"""CB203: TF32 or lower precision in float32 products."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_ATTRIBUTES = (
    "allow_tf32",
    "fp32_precision",
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)
_FLAGS = {
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cudnn.allow_tf32",
}
_PRECISIONS = {
    "torch.backends.fp32_precision",
    "torch.backends.cuda.matmul.fp32_precision",
    "torch.backends.cudnn.fp32_precision",
    "torch.backends.cudnn.conv.fp32_precision",
    "torch.backends.cudnn.rnn.fp32_precision",
}


class ReducedMatmulPrecision(Rule):
    """float32 products are allowed to run in TF32 or bfloat16.

    ## What it does

    Reports `torch.set_float32_matmul_precision("high")` or `"medium"`, `allow_tf32 = True`,
    `fp32_precision = "tf32"`, the flags of reduced-precision reductions, TensorFlow's
    `enable_tensor_float_32_execution(True)` and JAX's `jax_default_matmul_precision`. It concerns GPUs only.

    ## Why it matters on a cluster

    TF32 keeps 10 bits of the mantissa instead of 23, and only GPUs since Ampere have it. The same job gives
    one model on an A100 and another on a V100 or on the CPU on which the notebook ran, and nothing says so.

    ## Bad example

    ```python
    import torch

    torch.set_float32_matmul_precision("high")  # <-- here
    torch.backends.cudnn.allow_tf32 = True  # <-- here
    ```

    ## Good example

    ```python
    import torch

    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    ```

    ## Remedy

    Keep full precision until a comparison has shown that the lower one gives the same metric; then fix the
    GPU model among the job's resources and silence this line.
    """

    code = "CB203"
    name = "reduced-matmul-precision"

    words = frozenset({"tf32", "precision", "tensor_float_32"})
    calls = frozenset(
        {
            "torch.set_float32_matmul_precision",
            "tensorflow.config.experimental.enable_tensor_float_32_execution",
            "jax.config.update",
        }
    )

    _MESSAGE = "float32 products may run in reduced precision, which depends on the GPU's model (CUDA only)"

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at assignments to the settings."""
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in _ATTRIBUTES:
                continue
            name = cell.resolve(target)
            on = name in _FLAGS and is_constant(node.value, True, cell)
            if on or (name in _PRECISIONS and constant(node.value, cell) in ("tf32", "bf16")):
                self.report(cell, node, self._MESSAGE)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the functions that set it."""
        first = constant(node.args[0] if node.args else argument(node, "precision"), cell)
        reduced = {
            "torch.set_float32_matmul_precision": first in ("high", "medium"),
            "tensorflow.config.experimental.enable_tensor_float_32_execution": first is True,
            "jax.config.update": first == "jax_default_matmul_precision"
            and constant(argument(node, "val", 1), cell) in ("bfloat16", "tensorfloat32", "fastest", "default"),
        }
        if reduced[cell.callee or ""]:
            self.report(cell, node, self._MESSAGE)
