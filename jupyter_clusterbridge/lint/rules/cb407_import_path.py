"""CB407: the search path of imports changed from a cell."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jupyter_clusterbridge.lint.calls import constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Severity

_GROWS = frozenset({"sys.path.append", "sys.path.insert", "sys.path.extend", "site.addsitedir"})


class ImportPath(Rule):
    """A cell changes where Python looks for modules.

    ## What it does

    Reports `sys.path.append`, `insert` and `extend`, `site.addsitedir` and assignments to `sys.path`: as a
    warning where the path leaves the notebook's folder, otherwise as information.

    ## Why it matters on a cluster

    The folder is not in the job's image, so that the import fails; or a module of the same name from another
    place comes first, and the job runs other code. A second run of the cell adds the path once more.

    ## Bad example

    ```python
    import sys

    sys.path.append("..")  # <-- here
    sys.path.insert(0, "src")  # <-- here
    ```

    ## Good example

    ```python
    import sys

    print(sys.path)
    known = "src" in sys.path
    ```

    ## Remedy

    Make the code a package and install it in the kernel's environment (`pip install -e .` in a terminal); the
    export then builds a wheel of it.
    """

    code = "CB407"
    name = "import-path"
    words = frozenset({"sys.path", "addsitedir", "import path"})
    calls = _GROWS

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at methods of ``sys.path``."""
        added = node.args[-1] if node.args else None
        texts = [inner.value for inner in descend(added) if isinstance(inner, ast.Constant)] if added else []
        self._report(node, texts, constant(added, cell), (cell.callee or "").removeprefix("site."), cell)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``sys.path = ...``."""
        assert isinstance(node, ast.Assign)
        if isinstance(node.targets[0], ast.Attribute) and cell.resolve(node.targets[0]) == "sys.path":
            texts = [inner.value for inner in descend(node.value) if isinstance(inner, ast.Constant)]
            self._report(node, texts, None, "sys.path = ...", cell)

    def visit_AugAssign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``sys.path += ...``."""
        assert isinstance(node, ast.AugAssign)
        if isinstance(node.target, ast.Attribute) and cell.resolve(node.target) == "sys.path":
            texts = [inner.value for inner in descend(node.value) if isinstance(inner, ast.Constant)]
            self._report(node, texts, None, "sys.path += ...", cell)

    def _report(
        self, node: ast.AST, texts: Sequence[object], value: object, shown: str, cell: CellContext
    ) -> None:
        leaves = any(isinstance(text, str) and text.startswith(("..", "/", "~")) for text in [*texts, value])
        severity = Severity.WARNING if leaves else Severity.INFO
        self.report(cell, node, f"`{shown}` changes which modules later imports find", severity=severity)
