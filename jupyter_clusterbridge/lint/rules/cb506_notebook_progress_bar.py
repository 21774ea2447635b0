"""CB506: progress bars that need a notebook's page."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace_text
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_OLD = frozenset({"tqdm.tqdm_notebook", "tqdm.tnrange"})


class NotebookProgressBar(Rule):
    """A progress bar is drawn as a widget of the notebook's page.

    ## What it does

    Reports imports of `tqdm.notebook` and calls of `tqdm_notebook` and `tnrange`. `tqdm.auto` and plain
    `tqdm` are fine.

    ## Why it matters on a cluster

    In a job there is no page: the bar leaves a line such as `HBox(children=...)` in the output and nothing
    in the log, so that nobody sees how far the job is. Where `ipywidgets` is missing in the image, the bar
    raises an `ImportError`.

    ## Bad example

    ```python
    from tqdm.notebook import tqdm  # <-- here

    for step in tqdm(range(3)):
        pass
    ```

    ## Good example

    ```python
    from tqdm.auto import tqdm

    for step in tqdm(range(3)):
        pass
    ```

    ## Remedy

    Import from `tqdm.auto`, which draws a widget in a notebook and text elsewhere.
    """

    code = "CB506"
    name = "notebook-progress-bar"
    severity = Severity.INFO
    words = frozenset({"tqdm.notebook", "tqdm_notebook", "tnrange", "tqdm import notebook"})
    calls = _OLD

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``from tqdm.notebook import tqdm``."""
        assert isinstance(node, ast.ImportFrom)
        names = {name.name for name in node.names}
        if node.module == "tqdm.notebook":
            fix = None
            if names <= {"tqdm", "trange"}:
                fix = replace_text(node, "tqdm.notebook", "tqdm.auto", cell, "Import from tqdm.auto")
            self.report(cell, node, "`tqdm.notebook` needs the notebook's page", fix=fix)
        elif node.module == "tqdm" and "notebook" in names:
            self.report(cell, node, "`tqdm.notebook` needs the notebook's page")

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``import tqdm.notebook as tqdm``."""
        assert isinstance(node, ast.Import)
        if any(name.name == "tqdm.notebook" for name in node.names):
            self.report(cell, node, "`tqdm.notebook` needs the notebook's page")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the old names."""
        self.report(cell, node, f"`{(cell.callee or '').rpartition('.')[2]}` needs the notebook's page")
