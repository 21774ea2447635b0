"""CB205: fused attention whose backward pass adds in another order each time."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.torch_calls import trains, under_no_grad
from jupyter_clusterbridge.model.findings import Confidence, Severity

_SDPA = "torch.nn.functional.scaled_dot_product_attention"
_FLASH = frozenset({"flash_attn.flash_attn_func", "flash_attn.flash_attn_qkvpacked_func",
                    "flash_attn.flash_attn_varlen_func", "xformers.ops.memory_efficient_attention"})  # fmt: skip


class AttentionBackward(Rule):
    """A fused attention kernel is trained through, and determinism is not asked for.

    ## What it does

    Reports `flash_attn` functions without `deterministic=True`, models that are loaded with
    `attn_implementation="flash_attention_2"`, and as info `scaled_dot_product_attention`, in a notebook that
    uses CUDA, trains, and never calls `torch.use_deterministic_algorithms(True)`.

    ## Why it matters on a cluster

    The backward pass of these kernels adds gradients by atomic additions, in another order in each run. The
    forward pass is the same, so that nothing shows it before some hundred steps.

    ## Bad example

    ```python
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("gpt2", attn_implementation="flash_attention_2")  # <-- here
    model.to("cuda")
    loss = model(input_ids=torch.tensor([[1, 2]]).cuda(), labels=torch.tensor([[1, 2]]).cuda()).loss
    loss.backward()
    ```

    ## Good example

    ```python
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("gpt2", attn_implementation="eager")
    model.to("cuda")
    loss = model(input_ids=torch.tensor([[1, 2]]).cuda(), labels=torch.tensor([[1, 2]]).cuda()).loss
    loss.backward()
    ```

    ## Remedy

    Pass `deterministic=True` to flash-attn (or set `FLASH_ATTENTION_DETERMINISTIC=1` for transformers), or
    call `torch.use_deterministic_algorithms(True)` for torch's own attention.
    """

    code = "CB205"
    name = "attention-backward"
    confidence = Confidence.MEDIUM
    words = frozenset({"attention", "flash_attn"})
    calls = _FLASH | {_SDPA}
    methods = frozenset({"from_pretrained"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        silent = ("use_deterministic_algorithms", "set_deterministic_debug_mode", "FLASH_ATTENTION_DETERMINISTIC")
        self._done = not (notebook.uses_cuda and trains(notebook)) or any(word in source for word in silent)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at attention."""
        if self._done or under_no_grad(cell):
            return
        if cell.callee == _SDPA:
            message = "the backward pass of fused attention may differ from run to run on CUDA"
            self._done = self.report(cell, node, message, severity=Severity.INFO)
            return
        if cell.callee in _FLASH:
            unsure = not is_constant(argument(node, "deterministic"), True, cell)
        else:
            unsure = is_constant(argument(node, "attn_implementation"), "flash_attention_2", cell)
        if unsure:
            message = "the backward pass of flash attention differs from run to run"
            self._done = self.report(cell, node, message)
