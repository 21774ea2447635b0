"""CB106: a function that seeds and that nothing calls."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import streams_seeded
from jupyter_clusterbridge.lint.rule import Rule


class SeedNeverCalled(Rule):
    """A function seeds the random streams, and nothing in the notebook calls it.

    ## What it does

    Reports a function at the top level whose name speaks of seeding, that seeds a global stream, and that
    the notebook neither calls nor hands on.

    ## Why it matters on a cluster

    The notebook looks seeded and is not. The call was perhaps in a cell that is gone, so that the kernel at
    hand was seeded and the job is not.

    ## Bad example

    ```python
    import numpy as np


    def seed_everything(seed=0):  # <-- here
        np.random.seed(seed)


    # %%
    rows = np.random.permutation(100)
    ```

    ## Good example

    ```python
    import numpy as np


    def seed_everything(seed=0):
        np.random.seed(seed)


    seed_everything(0)
    # %%
    rows = np.random.permutation(100)
    ```

    ## Remedy

    Call the function in the first cell, or delete it.
    """

    code = "CB106"
    name = "seed-never-called"
    words = frozenset({"seed"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[str] = set()

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at seeds in functions."""
        assert isinstance(node, ast.Call)
        if len(cell.scopes) != 2:
            return
        function = cell.scopes[1].node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        name = function.name
        if "seed" not in name.lower() or "worker" in name.lower() or name in self._seen:
            return
        if streams_seeded(node, cell) and not self._named_anywhere(name):
            self._seen.add(name)
            self.report(cell, function, f"`{name}` seeds the random streams, and nothing calls it")

    def _named_anywhere(self, name: str) -> bool:
        if name in self.notebook.called_functions:
            return True
        # a worker_init_fn is called in another process, and a magic or a string may name it as well
        return self.notebook.source.count(name) > 1
