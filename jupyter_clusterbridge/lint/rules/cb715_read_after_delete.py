"""CB715: a name that a cell above has deleted."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import import_aliases
from jupyter_clusterbridge.model.findings import Severity

_UNSURE = (
    ast.If,
    ast.IfExp,
    ast.BoolOp,
    ast.Try,
    ast.For,
    ast.While,
    ast.With,
    ast.FunctionDef,
    ast.Lambda,
    ast.ClassDef,
)
_TRIES = (ast.Try, ast.If, ast.IfExp, ast.BoolOp)


class ReadAfterDelete(Rule):
    """A cell reads a name that was deleted above.

    ## What it does

    Follows `del name` at the top level of cells, outside of conditions and loops, and reports the first read
    after it that no new binding comes before.

    ## Why it matters on a cluster

    In a run from top to bottom the read ends with a `NameError`. In the session the cells ran in another
    order, or the deleting one was left out.

    ## Bad example

    ```python
    table = [1, 2, 3]
    # %%
    del table
    # %%
    print(len(table))  # <-- here
    ```

    ## Good example

    ```python
    table = [1, 2, 3]
    print(len(table))
    # %%
    del table
    # %%
    table = [4, 5]
    print(len(table))
    ```

    ## Remedy

    Delete the name after its last use, or bind it again before.
    """

    code = "CB715"
    name = "read-after-delete"
    severity = Severity.ERROR
    words = frozenset({"del "})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._deleted: dict[str, int] = {}

    def visit_Delete(self, node: ast.AST, cell: CellContext) -> None:
        """Note what is deleted."""
        assert isinstance(node, ast.Delete)
        if len(cell.scopes) == 1 and next(cell.within(*_UNSURE), None) is None:
            for target in node.targets:
                for name in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    if isinstance(name, ast.Name):
                        self._deleted[name.id] = cell.cell.index

    def visit_Name(self, node: ast.AST, cell: CellContext) -> None:
        """Look at reads, and note new bindings."""
        assert isinstance(node, ast.Name)
        if node.id not in self._deleted:
            return
        if isinstance(node.ctx, ast.Store):
            del self._deleted[node.id]
        elif isinstance(node.ctx, ast.Load) and len(cell.scopes) == 1:
            index = self._deleted.pop(node.id)
            if next(cell.within(*_TRIES), None) is None and self.notebook.opaque_from is None:
                where = "this cell" if index == cell.cell.index else f"cell {index}"
                self.report(cell, node, f"`{node.id}` was deleted by {where}")

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Note new bindings."""
        assert isinstance(node, ast.Import)
        self._bind(*import_aliases(node))

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """Note new bindings."""
        assert isinstance(node, ast.ImportFrom)
        self._bind(*import_aliases(node))

    def visit_FunctionDef(self, node: ast.AST, cell: CellContext) -> None:
        """Note new bindings."""
        assert isinstance(node, ast.FunctionDef)
        self._bind(node.name)

    def visit_ClassDef(self, node: ast.AST, cell: CellContext) -> None:
        """Note new bindings."""
        assert isinstance(node, ast.ClassDef)
        self._bind(node.name)

    def visit_Global(self, node: ast.AST, cell: CellContext) -> None:
        """A function may bind the name whenever it runs."""
        assert isinstance(node, ast.Global)
        self._bind(*node.names)

    def _bind(self, *names: str) -> None:
        for name in names:
            self._deleted.pop(name, None)
