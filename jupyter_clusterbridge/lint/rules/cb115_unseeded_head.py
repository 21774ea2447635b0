"""CB115: a pretrained model whose new head is drawn before any seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import seeded_before
from jupyter_clusterbridge.model.findings import Confidence

_TRAINS = frozenset({"transformers.Trainer", "transformers.Seq2SeqTrainer"})


class UnseededHead(Rule):
    """A transformers model gets a new head before anything is seeded, and is then trained.

    ## What it does

    Reports `...ForSequenceClassification.from_pretrained(..., num_labels=...)` and the like in a notebook
    that trains it by a `Trainer` without `model_init`, when nothing above seeds torch.

    ## Why it matters on a cluster

    `from_pretrained` draws the new head's weights at once. `TrainingArguments(seed=...)` has an effect only
    when the `Trainer` is made, which is later, so that the job trains another head.

    ## Bad example

    ```python
    from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

    model = AutoModelForSequenceClassification.from_pretrained("roberta-base", num_labels=3)  # <-- here
    trainer = Trainer(model, TrainingArguments("out", seed=0))
    trainer.train()
    ```

    ## Good example

    ```python
    from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed

    set_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained("roberta-base", num_labels=3)
    trainer = Trainer(model, TrainingArguments("out", seed=0))
    trainer.train()
    ```

    ## Remedy

    Call `transformers.set_seed(SEED)` above the model, or pass `model_init=` to the `Trainer`.
    """

    code = "CB115"
    name = "unseeded-head"
    confidence = Confidence.MEDIUM
    words = frozenset({"from_pretrained"})
    methods = frozenset({"from_pretrained"})
    calls = _TRAINS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: tuple[ast.Call, CellContext] | None = None
        self._trains = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather models with new heads, and trainers."""
        if cell.callee in _TRAINS:
            self._trains = self._trains or argument(node, "model_init") is None
            return
        name = cell.callee or ""
        new = any(argument(node, option) is not None for option in ("num_labels", "id2label", "label2id"))
        if self._found is not None or not new or not name.startswith("transformers."):
            return
        if cell.function is None and not seeded_before("torch", node, cell):
            self._found = (node, cell)

    def end_notebook(self) -> None:
        """Report the model when it is trained."""
        if self._found is not None and self._trains and "model_init" not in self.notebook.source:
            node, cell = self._found
            self.report(cell, node, "the new head's weights are drawn here, before anything is seeded")
