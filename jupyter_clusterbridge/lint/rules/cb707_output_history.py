"""CB707: results taken from the kernel's history."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_NUMBERED = re.compile(r"_i?\d+")
_LAST = {"_", "__", "___", "_i", "_ii", "_iii"}


class OutputHistory(Rule):
    """A cell uses the result of another cell by its number in the history.

    ## What it does

    Reports `Out[5]`, `In[5]`, `_5` and `_i5`; and, as information, `_`, `__` and `_i`, which stand for the
    last results, in notebooks that never bind these names.

    ## Why it matters on a cluster

    The number counts what was run in one session, with every second run and every deleted cell. In a job the
    count is another one: `Out[5]` is missing, or the result of another cell.

    ## Bad example

    ```python
    40 + 2
    # %%
    answer = Out[7]  # <-- here
    twice = _7 * 2  # <-- here
    ```

    ## Good example

    ```python
    answer = 40 + 2
    # %%
    twice = answer * 2
    for _ in range(3):
        pass
    ```

    ## Remedy

    Give the result a name in the cell that computes it.
    """

    code = "CB707"
    name = "output-history"
    words = frozenset({"Out[", "In[", "_"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.Name, CellContext]] = []

    def visit_Name(self, node: ast.AST, cell: CellContext) -> None:
        """Look at names of the history."""
        assert isinstance(node, ast.Name)
        name = node.id
        if name[0] == "_":
            if (name in _LAST or _NUMBERED.fullmatch(name)) and isinstance(node.ctx, ast.Load):
                self._note(node, cell)
        elif name in ("Out", "In"):
            parent = cell.parents[-1] if cell.parents else None
            index = parent.slice if isinstance(parent, ast.Subscript) and parent.value is node else None
            if isinstance(index, (ast.Constant, ast.UnaryOp)) and isinstance(getattr(index, "value", 0), int):
                self._note(node, cell)

    def _note(self, node: ast.Name, cell: CellContext) -> None:
        parent = cell.parents[-1] if cell.parents else None
        translates = isinstance(parent, ast.Call) and parent.func is node
        if not translates and not any(node.id in scope.binds for scope in cell.scopes[1:]):
            self._found.append((node, cell))

    def end_notebook(self) -> None:
        """Report the names that no cell binds."""
        for node, cell in self._found:
            if node.id in self.notebook.defined:
                continue
            if node.id in _LAST:
                message = f"`{node.id}` stands for whatever ran last"
                self.report(cell, node, message, severity=Severity.INFO, confidence=Confidence.MEDIUM)
            else:
                shown = f"{node.id}[...]" if node.id in ("Out", "In") else node.id
                self.report(cell, node, f"`{shown}` is another cell's result in each session")
