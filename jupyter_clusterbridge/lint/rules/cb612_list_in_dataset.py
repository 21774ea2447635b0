"""CB612: a list that every loader worker copies bit by bit."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.loaders import (
    DATA_LOADER,
    has_workers,
    is_dataset,
    method_of,
    own_attribute,
    reads_of_self,
)
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence, Severity

_LISTS = {"builtins.list", "builtins.sorted", "glob.glob", "json.load", "os.listdir", "pickle.load"}
_LIST_METHODS = ("tolist", "to_dict", "readlines", "rglob", "splitlines")


class ListInDataset(Rule):
    """A data set keeps its items in a Python list, and a loader with workers reads it.

    ## What it does

    Reports a list or dictionary that is built in `__init__` of a `torch.utils.data.Dataset` by a
    comprehension, `list`, `json.load`, `.tolist()` and the like, in a notebook whose loader has workers.

    ## Why it matters on a cluster

    Reading a Python object changes its reference count, so that each worker's copy-on-write pages become its
    own. Memory grows during the first epoch until every worker holds the whole list, and a list of some
    million entries ends the job.

    ## Bad example

    ```python
    import json

    from torch.utils.data import DataLoader, Dataset


    class Records(Dataset):
        def __init__(self):
            self.rows = json.load(open("rows.json"))  # <-- here

        def __getitem__(self, index):
            return self.rows[index]

        def __len__(self):
            return len(self.rows)


    loader = DataLoader(Records(), num_workers=4)
    ```

    ## Good example

    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Records(Dataset):
        def __init__(self):
            self.rows = np.load("rows.npy", mmap_mode="r")

        def __getitem__(self, index):
            return self.rows[index]

        def __len__(self):
            return len(self.rows)


    loader = DataLoader(Records(), num_workers=4)
    ```

    ## Remedy

    Keep the items in one NumPy array, a tensor or an Arrow table.
    """

    code = "CB612"
    name = "list-in-dataset"
    severity = Severity.INFO
    confidence = Confidence.MEDIUM
    words = frozenset({"num_workers"})
    calls = frozenset({DATA_LOADER})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.Assign, str, CellContext]] = []
        self._workers = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look whether a loader has workers."""
        self._workers = self._workers or has_workers(node, cell)

    def visit_ClassDef(self, node: ast.AST, cell: CellContext) -> None:
        """Look at data sets."""
        assert isinstance(node, ast.ClassDef)
        init = method_of(node, "__init__")
        reads = method_of(node, "__getitem__")
        if init is None or reads is None or not is_dataset(node, cell):
            return
        used = reads_of_self(reads)
        for statement in descend(init):
            kept = own_attribute(statement.targets[0]) if isinstance(statement, ast.Assign) else None
            if kept in used and isinstance(statement, ast.Assign) and _is_list(statement.value, cell):
                self._found.append((statement, f"{node.name}.{kept}", cell))
                return

    def end_notebook(self) -> None:
        """Report lists when a loader has workers."""
        for statement, name, cell in self._found if self._workers else ():
            self.report(cell, statement, f"every loader worker comes to hold its own copy of `{name}`")


def _is_list(value: ast.expr, cell: CellContext) -> bool:
    if isinstance(value, (ast.ListComp, ast.DictComp)):
        # a comprehension over constants is short
        return not isinstance(value.generators[0].iter, (ast.List, ast.Tuple))
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in _LIST_METHODS:
        return True
    return cell.resolve(value.func) in _LISTS and bool(value.args)
