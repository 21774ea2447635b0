"""CB705: code that stands in no cell."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic


class RunsOtherSource(Rule):
    """A cell runs code of another file in the notebook's own names.

    ## What it does

    Reports, as information, `%run FILE`, and `exec` on what a file or a variable holds, at the top level of a
    cell.

    ## Why it matters on a cluster

    Which names the cell binds, and to what, no reader of the notebook can tell. The file is no module, so
    that its version is not recorded as one, and it must lie at the same path in the job.

    ## Bad example

    ```python
    %run helpers.py  # <-- here
    # %%
    exec(open("setup.py").read())  # <-- here
    ```

    ## Good example

    ```python
    import helpers
    from setup_data import paths
    ```

    ## Remedy

    Make it a module and import from it what is needed.
    """

    code = "CB705"
    name = "runs-other-source"
    severity = Severity.INFO
    words = frozenset({"run ", "exec("})
    calls = frozenset({"builtins.exec"})

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at ``%run``."""
        words = magic.body.split("#")[0].split()
        if magic.kind == "line" and magic.name == "run" and words:
            shown = next((word for word in words if not word.startswith("-")), words[0])
            self.report(cell, magic, f"`%run {shown[:50]}` binds names that no cell shows")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at ``exec``."""
        # with names of its own it touches nothing here
        if cell.function is None and len(node.args) == 1 and not isinstance(node.args[0], ast.Constant):
            self.report(cell, node, "`exec` binds names that no cell shows")
