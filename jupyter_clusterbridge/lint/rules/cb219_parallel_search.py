"""CB219: a search whose trials run side by side."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule


class ParallelSearch(Rule):
    """Trials of an Optuna study run in parallel threads.

    ## What it does

    Reports `study.optimize(..., n_jobs=...)` with more than one job.

    ## Why it matters on a cluster

    A sampler learns from the trials that have finished, and which have is another matter in each run. Even a
    seeded study tries other values then, and the threads of one process also share random streams.

    ## Bad example

    ```python
    import optuna

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=20, n_jobs=-1)  # <-- here
    ```

    ## Good example

    ```python
    import optuna

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=20)
    ```

    ## Remedy

    Run trials one after the other where the search must be repeatable, and give cores to the model instead.
    """

    code = "CB219"
    name = "parallel-search"
    words = frozenset({"optuna"})
    methods = frozenset({"optimize"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the number of jobs."""
        jobs = constant(argument(node, "n_jobs"), cell)
        if isinstance(jobs, int) and jobs != 1 and "optuna" in self.notebook.source:
            self.report(cell, node, "trials that run side by side make the search another one in each run")
