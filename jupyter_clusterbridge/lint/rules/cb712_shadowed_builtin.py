"""CB712: a builtin function hidden behind a value."""

from __future__ import annotations

import ast
import builtins

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Severity

_FUNCTIONS = frozenset(name for name in dir(builtins) if name[0].islower() and callable(getattr(builtins, name)))
_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp,
           ast.JoinedStr, ast.Compare)  # fmt: skip
_GIVE_VALUES = frozenset(
    f"builtins.{name}"
    for name in words(
        "len sum max min list dict set str int float range input sorted tuple abs round open bool zip"
    )
)


class ShadowedBuiltin(Rule):
    """A name such as `list` or `sum` is given a value, and is called elsewhere as the builtin function.

    ## What it does

    Reports the assignment of a plain value to the name of a builtin function at the top level of a cell,
    where the notebook calls that name: as a warning when it is called afterwards, and as information when a
    cell above calls it, which cannot be run again then.

    ## Why it matters on a cluster

    The call ends with `TypeError: 'list' object is not callable`. In the notebook it may have worked, since
    the cells ran in another order.

    ## Bad example

    ```python
    sum = 0  # <-- here
    # %%
    total = sum([1, 2, 3])
    ```

    ## Good example

    ```python
    total = 0
    list = [1, 2, 3]
    print(list)
    ```

    ## Remedy

    Give the value another name, and restart the kernel (or `del` the name) to get the function back.
    """

    code = "CB712"
    name = "shadowed-builtin"
    methods = _FUNCTIONS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._called: dict[str, int] = {}
        self._hidden: dict[str, tuple[ast.AST, CellContext]] = {}
        self._early: dict[str, tuple[ast.AST, CellContext, int]] = {}

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at values given to the names of builtins."""
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in _FUNCTIONS and len(cell.scopes) == 1:
                self._assigned(target.id, node, cell)

    def _assigned(self, name: str, node: ast.Assign, cell: CellContext) -> None:
        if not _is_value(node.value, cell):
            self._hidden.pop(name, None)
            return
        self._hidden[name] = (node, cell)
        above = self._called.get(name)
        if above is not None and above != cell.cell.index:
            self._early.setdefault(name, (node, cell, above))

    def visit_Delete(self, node: ast.AST, cell: CellContext) -> None:
        """A deleted name is the builtin again."""
        assert isinstance(node, ast.Delete)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._hidden.pop(target.id, None)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note calls of builtins."""
        function = node.func
        if not isinstance(function, ast.Name) or function.id not in _FUNCTIONS:
            return
        name = function.id
        if any(name in scope.binds for scope in cell.scopes[1:]):
            return
        if name in self._hidden:
            where, at = self._hidden.pop(name)
            self._early.pop(name, None)
            self.report(at, where, f"`{name}` is a value here; cell {cell.cell.index} calls it as a function")
        elif len(cell.scopes) == 1 and name not in self.notebook.defined:
            self._called.setdefault(name, cell.cell.index)

    def end_notebook(self) -> None:
        """Report names that only cells above call."""
        for name, (node, cell, above) in self._early.items():
            message = f"cell {above} calls `{name}` as a function and cannot run again after this"
            self.report(cell, node, message, severity=Severity.INFO)


def _is_value(node: ast.expr, cell: CellContext) -> bool:
    """Whether an expression is plainly something that cannot be called."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and f"builtins.{node.func.id}" in _GIVE_VALUES
    return isinstance(node, _VALUES) and not (isinstance(node, ast.Constant) and node.value is None)
