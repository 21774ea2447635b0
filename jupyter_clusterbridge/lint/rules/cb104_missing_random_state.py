"""CB104: scikit-learn without ``random_state``."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.free_seeds import FreeSeeds, runs_often
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import seeded_before
from jupyter_clusterbridge.lint.sklearn_draws import draws_without_a_state, lacks_a_state
from jupyter_clusterbridge.model.findings import Confidence, Severity


class MissingRandomState(Rule):
    """A scikit-learn estimator, split or generator is used without `random_state`.

    ## What it does

    Reports scikit-learn calls that draw random numbers when `random_state` is missing or `None`, as long as
    nothing above has seeded NumPy's global stream, from which they draw then. Which do was found by trying
    every estimator, splitter and function of scikit-learn; some draw only when they shuffle or with one
    option, such as `LogisticRegression(solver="saga")`. What a newer scikit-learn beside ClusterBridge has
    in addition is of info level when it takes a `random_state`.

    ## Why it matters on a cluster

    The job splits the data otherwise and fits another model than the notebook did; the test set of one run
    leaks into the training set of the next.

    ## Bad example

    ```python
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y)  # <-- here
    forest = RandomForestClassifier(n_estimators=50)  # <-- here
    ```

    ## Good example

    ```python
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import KFold, train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    forest = RandomForestClassifier(n_estimators=50, random_state=0)
    folds = KFold(n_splits=5)
    ```

    ## Remedy

    Pass `random_state=SEED`, with `SEED` among the parameters.
    """

    code = "CB104"
    name = "missing-random-state"
    words = frozenset({"sklearn"})
    calls = frozenset({"sklearn.*"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._calls: dict[str, list[tuple[ast.Call, CellContext, bool, bool]]] = {}
        self._seeds = FreeSeeds()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather scikit-learn's calls that draw."""
        name = cell.callee or ""
        function = name.rpartition(".")[2]
        self._seeds.note(function, argument(node, "random_state"), cell)
        if has_star(node) or not lacks_a_state(node, cell):
            return
        draws = draws_without_a_state(name, node, cell)
        if draws is not False and not seeded_before("numpy", node, cell):
            self._calls.setdefault(function, []).append((node, cell, bool(draws), runs_often(cell)))

    def end_notebook(self) -> None:
        """Report each function once, at its first call, with the number of further ones."""
        for function, calls in self._calls.items():
            for number, (node, cell, draws, often) in enumerate(calls, start=1):
                further = len(calls) - number
                more = f", here and in {further} further call{'s' * (further > 1)}" if further else ""
                if self._report(function, more, node, cell, draws=draws, often=often):
                    break

    def _report(
        self, function: str, more: str, node: ast.Call, cell: CellContext, *, draws: bool, often: bool
    ) -> bool:
        if draws:
            message = f"`{function}` draws random numbers and has no `random_state`{more}"
            fix = None if often else self._seeds.fix(function, "random_state", node, cell)
            return self.report(cell, node, message, fix=fix)
        message = f"`{function}` takes a `random_state` and has none{more}"
        return self.report(cell, node, message, severity=Severity.INFO, confidence=Confidence.LOW)
