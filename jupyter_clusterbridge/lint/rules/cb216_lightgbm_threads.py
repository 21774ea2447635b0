"""CB216: LightGBM's sums over threads."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_MODELS = frozenset(
    f"lightgbm.{name}" for name in ("LGBMClassifier", "LGBMRegressor", "LGBMRanker", "LGBMModel", "train", "cv")
)
_FIXES = ("deterministic", "force_col_wise", "force_row_wise", "num_threads", "nthread", "n_jobs=1", "num_thread")


class LightgbmThreads(Rule):
    """LightGBM trains without `deterministic` and without a fixed number of threads.

    ## What it does

    Reports the first LightGBM model of a notebook that sets neither `deterministic`, `force_col_wise`,
    `force_row_wise` nor a number of threads.

    ## Why it matters on a cluster

    LightGBM times two ways of building histograms and takes the faster one, and adds over as many threads as
    the node has cores. Another node gives other last bits, and sometimes another tree.

    ## Bad example

    ```python
    import lightgbm as lgb

    model = lgb.LGBMClassifier(n_estimators=100)  # <-- here
    ```

    ## Good example

    ```python
    import lightgbm as lgb

    model = lgb.LGBMClassifier(n_estimators=100, deterministic=True, force_col_wise=True)
    ```

    ## Remedy

    Pass `deterministic=True` and `force_col_wise=True`.
    """

    code = "CB216"
    name = "lightgbm-threads"
    severity = Severity.INFO
    words = frozenset({"lightgbm"})
    calls = _MODELS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done = any(word in notebook.source for word in _FIXES)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the first model."""
        if not self._done:
            message = "LightGBM's sums hang on the number of threads and on a timing"
            self._done = self.report(cell, node, message)
