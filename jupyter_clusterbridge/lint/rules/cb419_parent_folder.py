"""CB419: data above the notebook's folder."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Severity

_UP = re.compile(r"(?:\.\./)+[\w.-]")
_OPENERS = words("""
    open Path read_csv read_parquet read_json read_excel read_pickle read_feather read_table read_hdf imread load
    listdir glob iglob ImageFolder DatasetFolder load_from_disk genfromtxt loadtxt from_pretrained load_model
    read_file scandir image_dataset_from_directory
""")


class ParentFolder(Rule):
    """A file is read from above the notebook's folder.

    ## What it does

    Reports, as information and once for each folder, paths that begin with `../` in functions that read
    files.

    ## Why it matters on a cluster

    The job starts in the bundle's folder. What stands beside that folder on the author's machine is there
    only when it was declared as data and mounted.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.read_csv("../data/train.csv")  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    table = pd.read_csv("data/train.csv")
    ```

    ## Remedy

    Make the folder a parameter and declare it as data of the export.
    """

    code = "CB419"
    name = "parent-folder"
    severity = Severity.INFO
    words = frozenset({"../"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[str] = set()

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at strings that are given to a function that reads files."""
        assert isinstance(node, ast.Constant)
        value = node.value
        if not isinstance(value, str) or not _UP.match(value):
            return
        parent = cell.parents[-1] if cell.parents else None
        if isinstance(parent, ast.JoinedStr):
            if parent.values[0] is not node:
                return
            parent = cell.parents[-2] if len(cell.parents) > 1 else None
        if not isinstance(parent, ast.Call):
            return
        target = parent.func
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        folder = value.rpartition("/")[0]
        if name not in _OPENERS or folder in self._seen:
            return
        if self.report(cell, node, f"`{value[:60]}` stands above the notebook's folder"):
            self._seen.add(folder)
