"""CB214: bfloat16 and other types that only some GPUs have."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_ASKS = ("is_bf16_supported", "get_device_capability", "is_torch_bf16_gpu_available", "is_bfloat16_supported")


class HalfPrecisionHardware(Rule):
    """Training runs in bfloat16 or TF32, which GPUs before Ampere do not have.

    ## What it does

    Reports `bf16=True` and `tf32=True` of `TrainingArguments` and its like, as long as nothing in the
    notebook asks what the GPU can do.

    ## Why it matters on a cluster

    On a V100 or a T4, `TrainingArguments` raises or everything becomes slow; on another model the same job
    rounds otherwise. The job must ask for the GPU's model that the notebook had.

    ## Bad example

    ```python
    from transformers import TrainingArguments

    arguments = TrainingArguments("out", bf16=True)  # <-- here
    ```

    ## Good example

    ```python
    import torch
    from transformers import TrainingArguments

    arguments = TrainingArguments("out", bf16=torch.cuda.is_bf16_supported())
    ```

    ## Remedy

    Fix the GPU's model among the job's resources, or ask `torch.cuda.is_bf16_supported()`.
    """

    code = "CB214"
    name = "half-precision-hardware"
    severity = Severity.INFO
    words = frozenset({"bf16", "tf32"})
    methods = frozenset(
        {"TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig", "PPOConfig"}
    )

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._asks = any(word in notebook.source for word in _ASKS)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the arguments."""
        for option in ("bf16", "tf32"):
            if not self._asks and is_constant(argument(node, option), True, cell):
                self.report(cell, node, f"`{option}=True` needs a GPU since Ampere, which the job must ask for")
                return
