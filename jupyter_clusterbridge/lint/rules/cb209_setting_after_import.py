"""CB209: a variable that a library has read already."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.environ import set_variable
from jupyter_clusterbridge.lint.rule import Rule

_NUMERIC = ("numpy", "scipy", "pandas", "sklearn", "torch", "tensorflow")
_READERS: dict[str, tuple[str, ...]] = {
    "OMP_NUM_THREADS": _NUMERIC[3:],
    "OPENBLAS_NUM_THREADS": _NUMERIC[:4],
    "VECLIB_MAXIMUM_THREADS": _NUMERIC[:4],
    "NUMEXPR_MAX_THREADS": ("numexpr",),
    "NUMEXPR_NUM_THREADS": ("numexpr",),
    "JAX_ENABLE_X64": ("jax",),
    "JAX_PLATFORMS": ("jax",),
    "JAX_PLATFORM_NAME": ("jax",),
    "JAX_DEBUG_NANS": ("jax",),
    "JAX_DEFAULT_MATMUL_PRECISION": ("jax",),
    "KERAS_BACKEND": ("keras",),
}
"""Variables that are read when one of these packages is imported, and not again."""


class SettingAfterImport(Rule):
    """A variable that fixes threads, precision or backend is set after the library has read it.

    ## What it does

    Reports `os.environ["OMP_NUM_THREADS"] = ...`, the like of OpenBLAS and NumExpr,
    `JAX_ENABLE_X64`, `JAX_PLATFORMS`, `KERAS_BACKEND` and others below the import of a library that reads
    them only then.

    ## Why it matters on a cluster

    The setting has no effect: the job runs with one thread for each core of the node, or in float32. In the
    notebook it may have worked, when the cell ran after a restart before the imports did.

    ## Bad example

    ```python
    import os

    import numpy as np

    os.environ["OPENBLAS_NUM_THREADS"] = "4"  # <-- here
    ```

    ## Good example

    ```python
    import os

    os.environ["OPENBLAS_NUM_THREADS"] = "4"

    import numpy as np
    ```

    ## Remedy

    Set the variable in the job's environment, or in the first cell above all imports.
    """

    code = "CB209"
    name = "setting-after-import"
    words = frozenset(_READERS)

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._imported: dict[str, int] = {}

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Note what is imported."""
        assert isinstance(node, ast.Import)
        if cell.function is None:
            for name in node.names:
                self._imported.setdefault(name.name.split(".")[0], cell.cell.index)

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """Note what is imported."""
        assert isinstance(node, ast.ImportFrom)
        if cell.function is None and node.module and not node.level:
            self._imported.setdefault(node.module.split(".")[0], cell.cell.index)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at variables that come too late."""
        if cell.function is not None:
            return
        name = set_variable(node, cell)
        late = [package for package in _READERS.get(name or "", ()) if package in self._imported]
        if late:
            self.report(cell, node, f"`{name}` has no effect any more: `{late[0]}` read it when it was imported")
