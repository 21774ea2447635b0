"""CB121: PYTHONHASHSEED set inside the running kernel."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.environ import set_variable
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_NAME = "PYTHONHASHSEED"


class HashSeedTooLate(Rule):
    """`PYTHONHASHSEED` is set in the notebook, where it has no effect any more.

    ## What it does

    Reports `os.environ["PYTHONHASHSEED"] = ...`. Python reads the variable when it starts; only processes
    that the notebook starts afterwards see it.

    ## Why it matters on a cluster

    The order of sets of strings and the value of `hash` are another one in each job, although the notebook
    looks as if it had fixed them.

    ## Bad example

    ```python
    import os

    os.environ["PYTHONHASHSEED"] = "0"  # <-- here
    ```

    ## Good example

    ```python
    import os

    assert os.environ.get("PYTHONHASHSEED") == "0"
    ```

    ## Remedy

    Set the variable in the job's environment (`--env PYTHONHASHSEED=0`), or sort what comes out of sets.
    """

    code = "CB121"
    name = "hash-seed-too-late"
    severity = Severity.INFO
    words = frozenset({_NAME})
    methods = frozenset({"setdefault", "putenv"})

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at the variable."""
        self._check(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that set it."""
        self._check(node, cell)

    def _check(self, node: ast.AST, cell: CellContext) -> None:
        if set_variable(node, cell) == _NAME:
            self.report(cell, node, f"`{_NAME}` is read when Python starts, so setting it here changes nothing")
