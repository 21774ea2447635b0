"""CB116: a search for hyperparameters without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_SAMPLERS = frozenset(
    f"optuna.samplers.{name}"
    for name in ("TPESampler", "RandomSampler", "CmaEsSampler", "NSGAIISampler", "NSGAIIISampler", "QMCSampler",
                 "GPSampler")
)  # fmt: skip
_TAKES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_SAMPLERS, ("seed",)),
    "optuna.create_study": ("sampler",),
    "hyperopt.fmin": ("rstate",),
    "bayes_opt.BayesianOptimization": ("random_state",),
    "skopt.gp_minimize": ("random_state",),
    "skopt.forest_minimize": ("random_state",),
    "skopt.BayesSearchCV": ("random_state",),
    **{f"{module}.{name}": ("seed",)
       for module in ("keras_tuner", "kerastuner", "keras_tuner.tuners", "kerastuner.tuners")
       for name in ("RandomSearch", "BayesianOptimization", "Hyperband")},
}  # fmt: skip
"""Calls, and the argument that seeds each. None of them follows a global stream."""


class UnseededSearch(Rule):
    """A search over hyperparameters draws its trials from entropy.

    ## What it does

    Reports `optuna.create_study` without a sampler, Optuna samplers without `seed`, `hyperopt.fmin` without
    `rstate`, and the searches of keras-tuner, scikit-optimize and bayes_opt without their seed. A study
    whose sampler is set or replaced is left alone.

    ## Why it matters on a cluster

    These libraries keep generators of their own, which `random.seed` and `np.random.seed` do not reach. The
    job tries other hyperparameters than the notebook did and ends with another model.

    ## Bad example

    ```python
    import optuna

    study = optuna.create_study()  # <-- here
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=20)
    ```

    ## Good example

    ```python
    import optuna

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=20)
    ```

    ## Remedy

    Pass the seed to the sampler or the search, such as `sampler=optuna.samplers.TPESampler(seed=SEED)`.
    """

    code = "CB116"
    name = "unseeded-search"
    words = frozenset({"optuna", "hyperopt", "skopt", "bayes_opt", "keras_tuner", "kerastuner"})
    calls = frozenset(_TAKES)

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done: set[str] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what makes a search."""
        name = cell.callee or ""
        if name in self._done or has_star(node) or not self._lacks(node, name, cell):
            return
        shown = ast.unparse(node.func)
        option = _TAKES[name][0]
        if self.report(cell, node, f"`{shown}` without `{option}` draws other trials in each run"):
            self._done.add(name)

    def _lacks(self, node: ast.Call, name: str, cell: CellContext) -> bool:
        if name == "optuna.create_study":
            # GridSampler and others follow a fixed order, and a study may be given its sampler afterwards
            return argument(node, "sampler") is None and ".sampler = " not in self.notebook.source
        value = argument(node, _TAKES[name][0])
        positional = bool(node.args) and name in _SAMPLERS and "TPE" not in name
        return not positional and (value is None or constant(value, cell) is None)
