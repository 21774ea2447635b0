"""CB411: environment variables that the notebook takes for granted."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_ALWAYS = words("PATH HOME PWD HOSTNAME LANG SHELL USER LOGNAME TMPDIR CUDA_VISIBLE_DEVICES")
_JOB = ("SLURM_", "RAY_", "KUBERNETES_", "CLUSTERBRIDGE_", "OMP_")
_RANKS = words("RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT NODE_RANK")
_FILLS = re.compile(
    r"load_dotenv|dotenv|environ\.update|os\.putenv|environ\s*\|?=\s|env_file|from_dict\(os\.environ"
)


class UnsetEnvironment(Rule):
    """A cell needs an environment variable that nothing in the notebook sets.

    ## What it does

    Reports `os.environ["X"]` at the top level of a cell, once for each variable, where no cell sets it
    (`os.environ["X"] = ...`, `setdefault`, `%env`, `load_dotenv`), no `try` or condition takes its absence
    into account and no cluster sets it by itself.

    ## Why it matters on a cluster

    The variable was set in the author's shell. A job has only those that its description names: the cell
    ends with a `KeyError`.

    ## Bad example

    ```python
    import os

    bucket = os.environ["DATA_BUCKET"]  # <-- here
    ```

    ## Good example

    ```python
    import os

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    bucket = os.environ.get("DATA_BUCKET", "data")
    home = os.environ["HOME"]
    print(os.environ["TOKENIZERS_PARALLELISM"])
    ```

    ## Remedy

    Set the variable in the job (secrets by the cluster's secret store), or make the value a parameter.
    """

    code = "CB411"
    name = "unset-environment"
    severity = Severity.INFO
    words = frozenset({"environ["})
    calls = frozenset({"os.environ.setdefault"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._set: set[str] = set()
        self._read: dict[str, tuple[ast.AST, CellContext]] = {}
        self._filled = _FILLS.search(notebook.source) is not None

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Note what ``%env`` and ``%set_env`` set."""
        if magic.name in ("env", "set_env"):
            self._set.add(re.split(r"[=\s]", magic.body.strip(), maxsplit=1)[0])

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note ``os.environ.setdefault``."""
        if node.args and isinstance(node.args[0], ast.Constant):
            self._set.add(str(node.args[0].value))

    def visit_Subscript(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``os.environ[...]``."""
        assert isinstance(node, ast.Subscript)
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
            return
        if not isinstance(node.value, (ast.Attribute, ast.Name)) or cell.resolve(node.value) != "os.environ":
            return
        name = node.slice.value
        if not isinstance(node.ctx, ast.Load):
            self._set.add(name)
        elif cell.function is None and not _has_default(cell) and not _given(name):
            self._read.setdefault(name, (node, cell))

    def end_notebook(self) -> None:
        """Report the variables that no cell sets."""
        for name, (node, cell) in self._read.items():
            if name not in self._set and not self._filled:
                self.report(cell, node, f"`{name}` must be set from outside the notebook")


def _given(name: str) -> bool:
    return name in _ALWAYS or name in _RANKS or name.startswith(_JOB)


def _has_default(cell: CellContext) -> bool:
    """Whether a ``try``, a condition or a deletion takes the absence into account."""
    return (
        next(cell.within(ast.Try, ast.If, ast.IfExp, ast.BoolOp, ast.Compare, ast.Delete, ast.With), None)
        is not None
    )
