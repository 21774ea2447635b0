"""CB417: paths that only Windows understands."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Severity

_PATH = re.compile(r"(?:\.{1,2}\\)*[\w][\w .()+-]*(?:\\[\w .()+-]+)*\\?[\w .()+-]*\.[A-Za-z][A-Za-z0-9]{1,7}")
_OPENERS = words("""
    open Path read_csv read_parquet read_json read_excel read_pickle read_feather read_table read_hdf imread
    load_model genfromtxt loadtxt read_file
""")


class BackslashPath(Rule):
    """A path is written with backslashes.

    ## What it does

    Reports strings such as `"data\\\\train.csv"` that a function which opens files takes. Paths that begin
    with a drive letter are the matter of CB402.

    ## Why it matters on a cluster

    Linux takes a backslash for a letter of the file's name: there is no file of that name, and the cell ends
    with `FileNotFoundError`.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.read_csv("data\\\\train.csv")  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    table = pd.read_csv("data/train.csv")
    pattern = r"\\d+\\.csv"
    ```

    ## Remedy

    Write `/`, which Windows understands too.
    """

    code = "CB417"
    name = "backslash-path"
    severity = Severity.ERROR
    words = frozenset({"\\"})

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at strings that are given to a function that opens files."""
        assert isinstance(node, ast.Constant)
        value = node.value
        if not isinstance(value, str) or "\\" not in value or not _PATH.fullmatch(value):
            return
        parent = cell.parents[-1] if cell.parents else None
        if not isinstance(parent, ast.Call) or not parent.args or parent.args[0] is not node:
            return
        target = parent.func
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name not in _OPENERS or next(cell.within(ast.If, ast.IfExp, ast.Try), None) is not None:
            return
        fix = replace(node, repr(value.replace("\\", "/")), cell, "Write the path with slashes")
        self.report(cell, node, f"`{value[:60]}` is a path on Windows alone", fix=fix)
