"""CB406: the working directory changed from a cell."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic


class WorkingDirectory(Rule):
    """A cell changes the working directory.

    ## What it does

    Reports the first `os.chdir` or `%cd` (also `%pushd`) of a notebook with a relative path: as a warning
    where one of them goes up (`..`), otherwise as information. `os.chdir` to a place that a name holds is
    left alone, and so is a `%cd` without a folder; absolute folders are the matter of CB402.

    ## Why it matters on a cluster

    All relative paths of later cells depend on it, and a second run of the cell ends in another folder. A
    job starts in the bundle's folder, above which nothing of the project stands.

    ## Bad example

    ```python
    import os

    os.chdir("..")  # <-- here
    ```

    ## Good example

    ```python
    import os

    before = os.getcwd()
    os.chdir(before)
    # %%
    %cd -
    ```

    ## Remedy

    Keep the working directory, and build paths from one parameter: `ROOT / "experiments"`.
    """

    code = "CB406"
    name = "working-directory"
    words = frozenset({"chdir", "cd ", "pushd "})
    calls = frozenset({"os.chdir"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[CellContext, ast.AST | Magic, str, str]] = []

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at ``os.chdir``."""
        target = constant(argument(node, "path", 0), cell)
        if isinstance(target, str):
            self._consider(node, target, "os.chdir", cell)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at ``%cd``."""
        if magic.kind == "line" and magic.name in ("cd", "pushd"):
            self._consider(magic, magic.body.split("#")[0].strip().strip("\"'"), f"%{magic.name}", cell)

    def _consider(self, where: ast.AST | Magic, folder: str, shown: str, cell: CellContext) -> None:
        if not folder or folder in (".", "-") or folder[0] in "/~{$-" or ":" in folder[:3] or "%" in folder:
            return
        self._found.append((cell, where, folder, shown))

    def end_notebook(self) -> None:
        """Report the first place, and say how many there are."""
        ups = any(folder.startswith("..") for _, _, folder, _ in self._found)
        more = f" ({len(self._found) - 1} more such places)" if len(self._found) > 1 else ""
        for cell, where, folder, shown in self._found:
            message = f"`{shown}` moves all relative paths of later cells to `{folder[:40]}`{more}"
            if self.report(cell, where, message, severity=Severity.WARNING if ups else Severity.INFO):
                return
