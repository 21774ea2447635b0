"""CB605: n_jobs=-1."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import is_constant, method
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class AllJobs(Rule):
    """Work is spread over all CPUs that there are.

    ## What it does

    Reports the first `n_jobs=-1` (or `nthread=-1`) of a notebook, as info; in an Optuna study it is the matter of
    CB219.

    ## Why it matters on a cluster

    joblib keeps to the container's limit, and XGBoost and LightGBM may not: they count the node's cores
    where only a CPU quota is set. Each process of a pool holds a copy of what it works on, so that memory
    grows with the CPUs that the job gets, and the time that it takes is another one on each node.

    ## Bad example

    ```python
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=-1, random_state=0)  # <-- here
    ```

    ## Good example

    ```python
    from sklearn.ensemble import RandomForestClassifier

    JOBS = 4
    forest = RandomForestClassifier(n_jobs=JOBS, random_state=0)
    ```

    ## Remedy

    Make the number a parameter that is equal to the CPUs that the job asks for.
    """

    code = "CB605"
    name = "all-jobs"
    severity = Severity.INFO
    words = frozenset({"n_jobs", "nthread"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done = False

    def visit_keyword(self, node: ast.AST, cell: CellContext) -> None:
        """Look at the argument of any call."""
        assert isinstance(node, ast.keyword)
        if self._done or node.arg not in ("n_jobs", "nthread"):
            return
        call = cell.parents[-1] if cell.parents else None
        if isinstance(call, ast.Call) and method(call) == "optimize" and "optuna" in self.notebook.source:
            return
        if is_constant(node.value, -1, cell):
            message = f"`{node.arg}=-1` takes as many CPUs as the node or the job has"
            self._done = self.report(cell, node, message)
