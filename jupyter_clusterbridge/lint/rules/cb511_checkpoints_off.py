"""CB511: a trainer told to write no checkpoints."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_TRAINER = ("lightning.Trainer", "lightning.pytorch.Trainer", "pytorch_lightning.Trainer")


class CheckpointsOff(Rule):
    """A trainer is told to write no checkpoints.

    ## What it does

    Reports, as information, `save_strategy="no"` of the Hugging Face trainers and
    `enable_checkpointing=False` of Lightning.

    ## Why it matters on a cluster

    A person at a notebook starts again when something breaks. A job that is moved to another node, or that
    reaches its time limit, begins from the first step, as often as it takes.

    ## Bad example

    ```python
    from transformers import TrainingArguments

    options = TrainingArguments("out", num_train_epochs=10, save_strategy="no")  # <-- here
    ```

    ## Good example

    ```python
    from transformers import TrainingArguments

    options = TrainingArguments("out", num_train_epochs=10, save_strategy="epoch")
    ```

    ## Remedy

    Switch checkpoints on in the job, and begin from the last one (`resume_from_checkpoint`).
    """

    code = "CB511"
    name = "checkpoints-off"
    severity = Severity.INFO
    words = frozenset({"save_strategy", "enable_checkpointing"})
    methods = frozenset(
        {
            "TrainingArguments",
            "Seq2SeqTrainingArguments",
            "SFTConfig",
            "DPOConfig",
            "GRPOConfig",
            "RewardConfig",
            "Trainer",
        }
    )

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at a trainer's options."""
        if constant(argument(node, "save_strategy"), cell) == "no":
            self.report(cell, node, '`save_strategy="no"` writes no checkpoint')
            return
        trial = is_constant(argument(node, "fast_dev_run"), True, cell)
        off = is_constant(argument(node, "enable_checkpointing"), False, cell)
        if cell.callee in _TRAINER and off and not trial:
            self.report(cell, node, "`enable_checkpointing=False` writes no checkpoint")
