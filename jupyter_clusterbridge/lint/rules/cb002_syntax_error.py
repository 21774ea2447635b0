"""CB002: a cell that is not Python."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class SyntaxErrorInCell(Rule):
    """A code cell is not valid Python.

    ## What it does

    Reports the line where Python's parser gives up, after magics and shell escapes are set apart. The other
    cells are still linted. A `return` or `yield` outside any function is reported too.

    ## Why it matters on a cluster

    A job runs every cell from top to bottom. A cell that was left half-typed ends it, perhaps after hours
    of training in the cells above.

    ## Bad example

    ```python
    total = 0
    # %%
    for step in range(10)  # <-- here
        total += step
    ```

    ## Good example

    ```python
    %matplotlib inline
    files = !ls
    total = 0
    for step in range(10):
        total += step
    ```

    ## Remedy

    Correct the cell, or make it a Markdown cell if it holds notes.
    """

    code = "CB002"
    name = "syntax-error"
    severity = Severity.ERROR

    def begin_cell(self, cell: CellContext) -> None:
        """Report what the parser said."""
        if cell.tree is None:
            self.report(cell, cell.parsed.error_line or 1, f"the cell is not valid Python: {cell.parsed.error}")

    def visit_Return(self, node: ast.AST, cell: CellContext) -> None:
        """Report ``return`` outside a function."""
        self._outside(node, "return", cell)

    def visit_Yield(self, node: ast.AST, cell: CellContext) -> None:
        """Report ``yield`` outside a function."""
        self._outside(node, "yield", cell)

    def _outside(self, node: ast.AST, word: str, cell: CellContext) -> None:
        if cell.function is None:
            self.report(cell, node, f"the cell is not valid Python: '{word}' outside function")
