"""CB714: one name for two functions."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class RedefinedFunction(Rule):
    """Two cells define a function of one name, and a cell between them calls the first.

    ## What it does

    Reports, as information, a function at the top level of a cell whose name an earlier cell has given to
    another function, where a cell between the two calls it. Equal definitions and decorated ones are left
    alone.

    ## Why it matters on a cluster

    In a run from top to bottom each call takes the definition above it. In a session, a second run of the
    cell between takes the later one, so that the outputs in the file may come from a mix that no job
    repeats.

    ## Bad example

    ```python
    def scale(x):
        return x / 255
    # %%
    small = scale(10)
    # %%
    def scale(x):  # <-- here
        return x / 127.5 - 1
    ```

    ## Good example

    ```python
    def scale(x):
        return x / 255
    # %%
    small = scale(10)
    # %%
    def scale_to_sign(x):
        return x / 127.5 - 1
    ```

    ## Remedy

    Give the second function a name of its own.
    """

    code = "CB714"
    name = "redefined-function"
    severity = Severity.INFO
    words = frozenset({"def "})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._defined: dict[str, tuple[ast.FunctionDef, int]] = {}
        self._called: dict[str, int] = {}
        self._reported: set[str] = set()

    def visit_FunctionDef(self, node: ast.AST, cell: CellContext) -> None:
        """Look at functions of a name that is taken."""
        assert isinstance(node, ast.FunctionDef)
        if cell.parents or node.decorator_list or node.name.strip("_") == "":
            return
        before = self._defined.get(node.name)
        called = self._called.pop(node.name, None)
        self._defined[node.name] = (node, cell.cell.index)
        if before is None or called is None or node.name in self._reported or before[1] == cell.cell.index:
            return
        if called < cell.cell.index and ast.dump(before[0]) != ast.dump(node):
            message = f"cell {called} called the `{node.name}` of cell {before[1]}; this is another one"
            if self.report(cell, node, message):
                self._reported.add(node.name)

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Note calls in cells other than the defining one."""
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Name) or cell.function is not None:
            return
        before = self._defined.get(node.func.id)
        if before is not None and before[1] != cell.cell.index:
            self._called.setdefault(node.func.id, cell.cell.index)
