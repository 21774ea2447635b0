"""CB104: scikit-learn without ``random_state``."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import streams_seeded
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words

_ALWAYS = words("""
    train_test_split ShuffleSplit StratifiedShuffleSplit GroupShuffleSplit RepeatedKFold
    RepeatedStratifiedKFold RandomForestClassifier RandomForestRegressor ExtraTreesClassifier
    ExtraTreesRegressor RandomTreesEmbedding ExtraTreeClassifier ExtraTreeRegressor DecisionTreeClassifier
    DecisionTreeRegressor GradientBoostingClassifier GradientBoostingRegressor AdaBoostClassifier
    AdaBoostRegressor BaggingClassifier BaggingRegressor IsolationForest MLPClassifier MLPRegressor
    BernoulliRBM KMeans MiniBatchKMeans BisectingKMeans GaussianMixture BayesianGaussianMixture
    SpectralClustering TSNE NMF MiniBatchNMF FastICA TruncatedSVD LatentDirichletAllocation
    DictionaryLearning MiniBatchDictionaryLearning SGDClassifier SGDRegressor Perceptron
    PassiveAggressiveClassifier PassiveAggressiveRegressor RANSACRegressor TheilSenRegressor
    RandomizedSearchCV HalvingRandomSearchCV shuffle resample permutation_importance make_classification
    make_regression make_blobs make_moons make_circles RBFSampler Nystroem GaussianRandomProjection
    SparseRandomProjection KBinsDiscretizer
""")
"""Names of scikit-learn (1.0 to 1.9) whose result depends on ``random_state`` with the default arguments."""
_WHEN_SHUFFLED = frozenset({"KFold", "StratifiedKFold", "StratifiedGroupKFold", "GroupKFold"})
_NOT_BY_DEFAULT = {"KBinsDiscretizer": ("strategy", "kmeans"), "NMF": ("init", "random")}


class MissingRandomState(Rule):
    """A scikit-learn estimator, split or generator is used without `random_state`.

    ## What it does

    Reports scikit-learn calls that draw random numbers when `random_state` is missing or `None`, as long as
    no cell before has seeded NumPy's global stream, from which they draw then. Calls that only draw when
    they shuffle are reported only then.

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

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._numpy_seeded = False

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at scikit-learn's calls."""
        assert isinstance(node, ast.Call)
        if "numpy" in streams_seeded(node, cell):
            self._numpy_seeded = True
            return
        if self._numpy_seeded or cell.callee is None or not cell.callee.startswith("sklearn."):
            return
        function = cell.callee.rpartition(".")[2]
        if has_star(node) or not self._draws(function, node, cell):
            return
        state = argument(node, "random_state")
        if state is None or constant(state, cell) is None:
            self.report(cell, node, f"`{function}` draws random numbers and has no `random_state`")

    def _draws(self, function: str, node: ast.Call, cell: CellContext) -> bool:
        if function in _WHEN_SHUFFLED:
            return is_constant(argument(node, "shuffle"), True, cell)
        if function == "train_test_split" and is_constant(argument(node, "shuffle"), False, cell):
            return False
        if function in _NOT_BY_DEFAULT:
            option, value = _NOT_BY_DEFAULT[function]
            return is_constant(argument(node, option), value, cell)
        return function in _ALWAYS
