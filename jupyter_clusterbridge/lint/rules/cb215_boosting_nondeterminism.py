"""CB215: gradient boosting that differs from run to run."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_CATBOOST = ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")


class BoostingNondeterminism(Rule):
    """CatBoost trains on a GPU, or XGBoost trains a linear booster in parallel.

    ## What it does

    Reports `task_type="GPU"` of CatBoost and `booster="gblinear"` of XGBoost without
    `updater="coord_descent"`, among the arguments or in a dictionary of parameters. The seeds of XGBoost,
    LightGBM and CatBoost are fixed numbers by default, so that a missing one is no fault.

    ## Why it matters on a cluster

    CatBoost adds floats in another order in each run on a GPU, and XGBoost's default updater for linear
    boosters lets threads overwrite one another. Both are documented, and no seed helps.

    ## Bad example

    ```python
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(iterations=100, task_type="GPU", random_seed=0)  # <-- here
    ```

    ## Good example

    ```python
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(iterations=100, random_seed=0)
    ```

    ## Remedy

    Train on the CPU (or with `updater="coord_descent"`) where runs must be equal, and otherwise compare
    metrics with a tolerance.
    """

    code = "CB215"
    name = "boosting-nondeterminism"
    words = frozenset({"catboost", "xgboost"})
    calls = frozenset({f"catboost.{name}" for name in _CATBOOST}) | {
        "xgboost.XGBClassifier", "xgboost.XGBRegressor", "catboost.train",
    }  # fmt: skip

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._catboost = "catboost" in notebook.source
        self._xgboost = "xgboost" in notebook.source

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the arguments."""
        if constant(argument(node, "task_type"), cell) == "GPU":
            self._gpu(node, cell)
        if constant(argument(node, "booster"), cell) == "gblinear" and argument(node, "updater") is None:
            self._linear(node, cell)

    def visit_Dict(self, node: ast.AST, cell: CellContext) -> None:
        """Look at dictionaries of parameters."""
        assert isinstance(node, ast.Dict)
        given = {
            key.value: value.value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
        }
        if self._catboost and given.get("task_type") == "GPU":
            self._gpu(node, cell)
        if self._xgboost and given.get("booster") == "gblinear" and "updater" not in given:
            self._linear(node, cell)

    def _gpu(self, node: ast.AST, cell: CellContext) -> None:
        self.report(cell, node, "CatBoost's training on a GPU differs from run to run")

    def _linear(self, node: ast.AST, cell: CellContext) -> None:
        self.report(cell, node, "XGBoost's default updater of linear boosters differs from run to run")
