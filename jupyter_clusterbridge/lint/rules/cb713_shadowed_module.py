"""CB713: an imported module hidden behind a value."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_GUARDS = (ast.If, ast.Try)


class ShadowedModule(Rule):
    """The name of an imported module is given a value.

    ## What it does

    Reports a plain assignment at the top level of a cell to a name that `import` has bound, where the notebook
    uses a part of the module that it used before: as a warning when it does so afterwards, and as
    information when a cell above does, which cannot be run again then.

    ## Why it matters on a cluster

    `time = time.time()` works once. The next `time.sleep(1)` ends with an `AttributeError`, unless somebody
    runs the import again by hand, as one does in a notebook.

    ## Bad example

    ```python
    import time

    time = time.time()  # <-- here
    # %%
    print(time.time())
    ```

    ## Good example

    ```python
    import time

    start = time.time()
    # %%
    print(time.time() - start)
    ```

    ## Remedy

    Give the value another name.
    """

    code = "CB713"
    name = "shadowed-module"
    confidence = Confidence.MEDIUM

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._modules: dict[str, int] = {}
        self._used: dict[str, dict[str, int]] = {}
        self._hidden: dict[str, tuple[ast.AST, CellContext]] = {}

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Note modules."""
        assert isinstance(node, ast.Import)
        if len(cell.scopes) > 1:
            return
        for item in node.names:
            name = item.asname or item.name.split(".")[0]
            self._modules[name] = cell.cell.index
            self._hidden.pop(name, None)

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """An import gives a name another meaning on purpose."""
        assert isinstance(node, ast.ImportFrom)
        for item in node.names:
            self._modules.pop(item.asname or item.name, None)
            self._hidden.pop(item.asname or item.name, None)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at values given to the names of modules."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in self._modules or len(cell.scopes) > 1:
            return
        name = target.id
        if _still_a_module(node.value) or next(cell.within(*_GUARDS), None) is not None:
            self._forget(name)
        else:
            self._hidden[name] = (node, cell)

    def visit_Attribute(self, node: ast.AST, cell: CellContext) -> None:
        """Look at parts of modules that are used."""
        assert isinstance(node, ast.Attribute)
        value = node.value
        if not isinstance(value, ast.Name) or value.id not in self._modules:
            return
        name = value.id
        if any(name in scope.binds or name in scope.aliases for scope in cell.scopes[1:]):
            return
        used = self._used.setdefault(name, {})
        if name not in self._hidden or self._hidden[name][0] in cell.parents:
            if cell.function is None:
                used.setdefault(node.attr, cell.cell.index)
        elif node.attr in used:
            where, at = self._hidden[name]
            self._forget(name)
            message = f"`{name}` is a value here; cell {cell.cell.index} takes it for the module"
            self.report(at, where, message)

    def _forget(self, name: str) -> None:
        self._modules.pop(name, None)
        self._hidden.pop(name, None)

    def end_notebook(self) -> None:
        """Report names whose module only cells above use."""
        for name, (node, cell) in self._hidden.items():
            above = [
                index
                for index in self._used.get(name, {}).values()
                if self._modules[name] < index < cell.cell.index
            ]
            if above:
                message = f"cell {above[0]} uses the module `{name}` and cannot run again after this"
                self.report(cell, node, message, severity=Severity.INFO)


def _still_a_module(value: ast.expr) -> bool:
    """Whether a value may be a module, or something that stands for one: ``importlib.reload(utils)``."""
    if isinstance(value, ast.Call):
        called = ast.unparse(value.func)
        return "import" in called or called.endswith("reload")
    return isinstance(value, (ast.Name, ast.Attribute))
