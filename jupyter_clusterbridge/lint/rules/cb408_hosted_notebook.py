"""CB408: interfaces that only one hosted notebook service has."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_MODULES = {"google.colab": "Colab", "kaggle_secrets": "Kaggle", "kaggle_datasets": "Kaggle",
            "kaggle_web_client": "Kaggle", "google.colab.patches": "Colab"}  # fmt: skip


class HostedNotebook(Rule):
    """A cell uses what only Colab, Kaggle or Databricks has.

    ## What it does

    Reports imports of `google.colab` and `kaggle_secrets`, Colab's `%tensorflow_version`, and calls of
    `dbutils`, unless a `try` or a condition stands around them.

    ## Why it matters on a cluster

    The module is not on any package index, so that no image can have it: the job ends at the import.

    ## Bad example

    ```python
    from google.colab import drive  # <-- here

    drive.mount("/mnt/drive")
    # %%
    %tensorflow_version 2.x  # <-- here
    ```

    ## Good example

    ```python
    import sys

    if "google.colab" in sys.modules:
        from google.colab import drive
    try:
        from kaggle_secrets import UserSecretsClient
    except ImportError:
        UserSecretsClient = None
    ```

    ## Remedy

    Read data from a path that is a parameter and secrets from environment variables; keep what only a hosted
    notebook needs under a condition.
    """

    code = "CB408"
    name = "hosted-notebook"
    severity = Severity.ERROR
    words = frozenset({"colab", "kaggle_", "tensorflow_version", "dbutils"})

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``import google.colab``."""
        assert isinstance(node, ast.Import)
        self._consider(node, [name.name for name in node.names], cell)

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``from google.colab import drive``."""
        assert isinstance(node, ast.ImportFrom)
        module = node.module or ""
        self._consider(node, [module, *(f"{module}.{name.name}" for name in node.names)], cell)

    def visit_Name(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``dbutils``."""
        assert isinstance(node, ast.Name)
        if node.id != "dbutils" or not isinstance(node.ctx, ast.Load) or self._guarded(cell):
            return
        if any("dbutils" in scope.binds for scope in cell.scopes[1:]):
            return
        if "dbutils" not in cell.binds and "dbutils" not in self.notebook.defined:
            self.report(cell, node, "`dbutils` exists in Databricks alone")

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at Colab's magic."""
        # one that is indented stands in a `try` or under a condition
        guarded = cell.cell.source.split("\n")[magic.line - 1][:1].isspace()
        if magic.kind == "line" and magic.name == "tensorflow_version" and not guarded:
            self.report(cell, magic, "`%tensorflow_version` exists in Colab alone")

    def _consider(self, node: ast.AST, modules: list[str], cell: CellContext) -> None:
        found = next((module for module in modules if module in _MODULES), None)
        if found is None or self._guarded(cell):
            return
        severity = Severity.ERROR if cell.function is None else Severity.WARNING
        self.report(cell, node, f"`{found}` exists in {_MODULES[found]} alone", severity=severity)

    def _guarded(self, cell: CellContext) -> bool:
        if next(cell.within(ast.Try), None) is not None:
            return True
        for condition in cell.within(ast.If, ast.IfExp):
            assert isinstance(condition, (ast.If, ast.IfExp))
            # any question around it may be the one that asks for the service; a constant asks nothing
            if not isinstance(condition.test, ast.Constant):
                return True
        return False
