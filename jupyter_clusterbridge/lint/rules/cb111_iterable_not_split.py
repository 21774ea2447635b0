"""CB111: an iterable data set that every worker reads whole."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.loaders import DATA_LOADER, has_workers, is_dataset, method_of
from jupyter_clusterbridge.lint.rule import Rule

_SPLITS = ("get_worker_info", "worker_id", "split_by_worker", "split_by_node", "split_dataset_by_node", "shard")


class IterableNotSplit(Rule):
    """An `IterableDataset` is read by several loader workers and does not part its items among them.

    ## What it does

    Reports the `__iter__` of a `torch.utils.data.IterableDataset` in a notebook whose `DataLoader` has
    workers, when nothing in the notebook mentions `get_worker_info`, a worker's id or a shard.

    ## Why it matters on a cluster

    Each worker iterates over all of it, so each item comes once for every worker: the epoch is as many times
    as long, and its weight in the loss hangs on `num_workers`, which is another one in the job.

    ## Bad example

    ```python
    from torch.utils.data import DataLoader, IterableDataset


    class Lines(IterableDataset):
        def __iter__(self):  # <-- here
            with open("lines.txt") as file:
                yield from file


    loader = DataLoader(Lines(), num_workers=4)
    ```

    ## Good example

    ```python
    import itertools

    from torch.utils.data import DataLoader, IterableDataset, get_worker_info


    class Lines(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            with open("lines.txt") as file:
                yield from itertools.islice(file, info.id if info else 0, None, info.num_workers if info else 1)


    loader = DataLoader(Lines(), num_workers=4)
    ```

    ## Remedy

    Ask `torch.utils.data.get_worker_info()` in `__iter__` and let each worker yield its own part.
    """

    code = "CB111"
    name = "iterable-not-split"
    words = frozenset({"IterableDataset"})
    calls = frozenset({DATA_LOADER})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.FunctionDef, str, CellContext]] = []
        self._loaded: set[str] = set()

    def visit_ClassDef(self, node: ast.AST, cell: CellContext) -> None:
        """Gather iterable data sets."""
        assert isinstance(node, ast.ClassDef)
        if is_dataset(node, cell, iterable=True):
            iterates = method_of(node, "__iter__")
            if iterates is not None:
                self._found.append((iterates, node.name, cell))

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look whether a loader has workers."""
        if has_workers(node, cell):
            self._loaded.add(ast.unparse(node.args[0]) if node.args else "")

    def end_notebook(self) -> None:
        """Report what is not split."""
        if not self._loaded or any(word in self.notebook.source for word in _SPLITS):
            return
        for iterates, owner, cell in self._found:
            self.report(cell, iterates, f"every loader worker yields all of `{owner}`")
