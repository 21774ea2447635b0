"""CB108: a random generator that every loader worker gets a copy of."""

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

_GENERATORS = {
    "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random",
    "torch.Generator",
}  # fmt: skip


class GeneratorInDataset(Rule):
    """A data set makes its random generator in `__init__` and a loader with workers copies it.

    ## What it does

    Reports a `torch.utils.data.Dataset` that stores a generator on itself in `__init__` and draws from it in
    `__getitem__` or `__iter__`, in a notebook whose `DataLoader` has workers. A data set that asks
    `get_worker_info` is left alone, and so is a loader with a `worker_init_fn`.

    ## Why it matters on a cluster

    Each worker gets a copy in the same state, so all of them draw the same numbers, and each epoch starts
    from that state again unless the workers persist. Which sample gets which number hangs on the number of
    workers, which is another one in the job.

    ## Bad example

    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(0)  # <-- here

        def __getitem__(self, index):
            return self.rng.normal(size=4)

        def __len__(self):
            return 64


    loader = DataLoader(Noisy(), batch_size=8, num_workers=4)
    ```

    ## Good example

    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Noisy(Dataset):
        def __getitem__(self, index):
            return np.random.default_rng([0, index]).normal(size=4)

        def __len__(self):
            return 64


    loader = DataLoader(Noisy(), batch_size=8, num_workers=4)
    ```

    ## Remedy

    Make the generator from the seed and the sample's index in `__getitem__`, or from the worker's number in
    a `worker_init_fn`.
    """

    code = "CB108"
    name = "generator-in-dataset"
    words = frozenset({"num_workers"})
    calls = frozenset({DATA_LOADER})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.Assign, str, str, CellContext]] = []
        self._workers = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look whether a loader has workers."""
        self._workers = self._workers or has_workers(node, cell)

    def visit_ClassDef(self, node: ast.AST, cell: CellContext) -> None:
        """Look at data sets."""
        assert isinstance(node, ast.ClassDef)
        init = method_of(node, "__init__")
        draws = method_of(node, "__getitem__") or method_of(node, "__iter__")
        if init is None or draws is None or not (is_dataset(node, cell) or is_dataset(node, cell, iterable=True)):
            return
        used = reads_of_self(draws)
        for statement in init.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                kept = own_attribute(statement.targets[0])
                if kept in used and cell.resolve(statement.value.func) in _GENERATORS:
                    self._found.append((statement, node.name, kept, cell))

    def end_notebook(self) -> None:
        """Report generators when a loader has workers that nothing seeds."""
        seeded = any(word in self.notebook.source for word in ("get_worker_info", "worker_init_fn"))
        if not self._workers or seeded:
            return
        for statement, owner, kept, cell in self._found:
            message = f"every loader worker gets a copy of `{owner}.{kept}` in the same state"
            self.report(cell, statement, message)
