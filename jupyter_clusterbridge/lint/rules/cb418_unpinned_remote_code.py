"""CB418: code that a model repository brings along."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_LOCAL = ("/", "./", "../", "~")


class UnpinnedRemoteCode(Rule):
    """Code from a model's repository is run without a revision.

    ## What it does

    Reports `trust_remote_code=True` without `revision` or `code_revision` in calls that name a repository;
    once for each repository.

    ## Why it matters on a cluster

    The job runs the code that stands in the repository on that day, with the job's rights and secrets. A
    change there changes the model, or breaks a thousand jobs in one night.

    ## Bad example

    ```python
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("microsoft/phi-2", trust_remote_code=True)  # <-- here
    ```

    ## Good example

    ```python
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(
        "microsoft/phi-2", trust_remote_code=True, revision="ef382358ec9e382308935a992d908de099b64c23"
    )
    ```

    ## Remedy

    Name a commit with `revision="<commit>"`, after reading its code.
    """

    code = "CB418"
    name = "unpinned-remote-code"
    words = frozenset({"trust_remote_code"})
    methods = frozenset(
        {"from_pretrained", "load_dataset", "pipeline", "SentenceTransformer", "from_config", "LLM", "load_metric"}
    )

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[object] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that trust remote code."""
        if not is_constant(argument(node, "trust_remote_code"), True, cell):
            return
        if argument(node, "revision") is not None or argument(node, "code_revision") is not None:
            return
        first = node.args[0] if node.args else argument(node, "model") or argument(node, "path")
        name = constant(first, cell)
        if not isinstance(name, str) or name.startswith(_LOCAL) or name in self._seen:
            return
        if self.report(cell, node, f"the code of `{name[:40]}` is run as it stands there on that day"):
            self._seen.add(name)
