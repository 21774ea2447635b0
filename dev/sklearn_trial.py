"""What in the installed scikit-learn gives another result for another state of the random stream."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import StrOptions

Data = tuple[Any, Any]
_CALLS: dict[str, Callable[[Callable[..., Any], Data], Any]] = {
    "train_test_split": lambda f, data: f(*data),
    "shuffle": lambda f, data: f(*data),
    "resample": lambda f, data: f(*data),
    "kmeans_plusplus": lambda f, data: f(data[0], 3),
    "k_means": lambda f, data: f(data[0], 3),
    "mutual_info_classif": lambda f, data: f(*data),
    "mutual_info_regression": lambda f, data: f(*data),
    "randomized_svd": lambda f, data: f(data[0], 2),
    "permutation_importance": lambda f, data: f(_fitted(data), *data),
}
"""How to call what is no estimator, no splitter and needs arguments."""
_NEED: dict[str, dict[str, Any]] = {
    "RandomizedSearchCV": {"param_distributions": {"min_samples_leaf": list(range(1, 60))}, "n_iter": 1},
    "HalvingRandomSearchCV": {"param_distributions": {"max_depth": list(range(2, 9))}},
    "GaussianMixture": {"n_components": 3},
    "BayesianGaussianMixture": {"n_components": 3},
    "GaussianRandomProjection": {"n_components": 2},
    "SparseRandomProjection": {"n_components": 2},
    "ClassifierChain": {},
    "LocallyLinearEmbedding": {"n_components": 2},
}
"""Arguments without which two states cannot give two results on data this small."""
_TRIED = {
    "algorithm", "bootstrap", "eigen_solver", "init", "probability", "selection", "solver", "splitter", "strategy",
    "svd_solver",
}  # fmt: skip
"""Options with a choice of ways to compute; what else there is to choose decides the result and not the draw."""
_SKIP = {
    "check_cv", "load_files",
    "BaseDecisionTree", "BaseShuffleSplit", "HalvingGridSearchCV", "PartialDependenceDisplay",
    "check_random_state", "learning_curve",
}  # fmt: skip


def _data() -> list[Data]:
    """Two small sets: one whose values tie, and one between 0 and 1 whose classes overlap.

    A tree draws among splits that tie, and a mixture finds one of several local optima.
    """
    X, y = load_iris(return_X_y=True)
    return [(X, y), (np.abs(X + np.random.RandomState(0).normal(0, 0.7, X.shape)) / 10, y)]


def _rounded(result: Any) -> Any:
    """The result without its last digits, in which eigenvectors from another start differ."""
    if isinstance(result, (tuple, list)):
        return [_rounded(part) for part in result]
    if isinstance(result, dict):
        return {key: _rounded(part) for key, part in result.items()}
    if isinstance(result, np.ndarray) and result.dtype.kind == "f":
        return np.round(result, 5) + 0.0
    return result


def _fitted(data: Data) -> Any:
    return DecisionTreeClassifier(random_state=0).fit(*data)


def members() -> dict[str, Any]:
    """Public classes and functions of scikit-learn that take ``random_state``, by their last name."""
    importlib.import_module("sklearn.experimental.enable_halving_search_cv")
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(sklearn.__path__):
        if info.name.startswith("_") or info.name in ("conftest", "externals", "experimental", "tests"):
            continue
        module = importlib.import_module(f"sklearn.{info.name}")
        for name in getattr(module, "__all__", dir(module)):
            member = getattr(module, name, None)
            if name.startswith(("_", "fetch_")) or name in _SKIP or not callable(member):
                continue
            if getattr(member, "__module__", "").startswith("sklearn") and _takes_a_state(member):
                found[name] = member
    return dict(sorted(found.items()))


def _takes_a_state(member: Any) -> bool:
    try:
        return "random_state" in inspect.signature(member).parameters
    except (TypeError, ValueError):
        return False


def _run(member: Any, options: dict[str, Any], data: Data) -> bytes:
    X, y = data
    if not inspect.isclass(member):
        call = _CALLS.get(member.__name__, lambda f, data: f(**options))
        return pickle.dumps(_rounded(call(member, data)))
    if "estimator" in inspect.signature(member).parameters and member.__name__ in _NEED:
        options = {"estimator": _fitted(data), **options}
    made = member(**{**_NEED.get(member.__name__, {}), **options})
    if hasattr(made, "split") and not hasattr(made, "fit"):
        return pickle.dumps(list(made.split(X, y, groups=np.arange(len(y)) // 5)))
    if hasattr(made, "fit_predict") or hasattr(made, "predict"):
        made.fit(X, y)
        # points between those it was fitted to, which a tree learns by heart
        between = (X + 0.4 * X[::-1]) / 1.4
        result = made.predict(between) if hasattr(made, "predict") else made.labels_
        proba = made.predict_proba(between) if hasattr(made, "predict_proba") else None
        return pickle.dumps(_rounded((result, proba)))
    if hasattr(made, "fit_transform"):
        return pickle.dumps(_rounded(made.fit_transform(X, y)))
    return pickle.dumps(made.fit(X, y))


def hangs_on_the_stream(member: Any, options: dict[str, Any]) -> bool | None:
    """Whether two states of the global stream give two results; None when it never runs like that."""
    answers = [_differs(member, options, data) for data in _data()]
    return any(answers) if any(answer is not None for answer in answers) else None


def _differs(member: Any, options: dict[str, Any], data: Data) -> bool | None:
    results = []
    for seed in (0, 1):
        np.random.seed(seed)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results.append(_run(member, options, data))
        except Exception:
            return None
    return len(set(results)) > 1


def _options(member: Any) -> Iterator[tuple[str, Any]]:
    constraints = getattr(member, "_parameter_constraints", {})
    for name, allowed in sorted(constraints.items()):
        for kind in allowed if isinstance(allowed, list) else ():
            if isinstance(kind, StrOptions) and name in _TRIED:
                yield from ((name, value) for value in sorted(kind.options - kind.deprecated))
            elif kind == "boolean" and name in ("probability", "dual", "shuffle", "bootstrap"):
                yield name, True


def table() -> tuple[list[str], list[str], dict[str, list[tuple[str, Any]]]]:
    """Names that always draw, names that draw when they shuffle, and the options that make others draw."""
    always: list[str] = []
    shuffled: list[str] = []
    options: dict[str, list[tuple[str, Any]]] = {}
    for name, member in members().items():
        by_default = hangs_on_the_stream(member, {})
        if by_default or (by_default is None and name.startswith("make_")):
            always.append(name)
        elif "shuffle" in inspect.signature(member).parameters and hangs_on_the_stream(member, {"shuffle": True}):
            shuffled.append(name)
        else:
            options[name] = [
                (key, value) for key, value in _options(member) if hangs_on_the_stream(member, {key: value})
            ]
    return always, shuffled, options


def table_text() -> str:
    """The module ``lint/sklearn_table.py``."""
    always, shuffled, options = table()
    version = ".".join(sklearn.__version__.split(".")[:2])
    lines = [
        '"""What in scikit-learn hangs on ``random_state``. Made by dev/gen_sklearn_table; do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        f"VERSION = ({version.replace('.', ', ')})",
        '"""Version that was tried."""',
        "ALWAYS = frozenset(",
        "    {",
        *(f'        "{name}",' for name in always),
        "    }",
        ")",
        '"""Draw with the default arguments."""',
        "WHEN_SHUFFLED = frozenset({" + ", ".join(f'"{name}"' for name in shuffled) + "})",
        '"""Draw with ``shuffle=True`` only."""',
        "WITH_OPTION: dict[str, tuple[tuple[str, object], ...]] = {",
        *(
            f'    "{name}": ({"".join(f"({key!r}, {value!r}), " for key, value in found)}),'
            for name, found in options.items()
        ),
        "}",
        '"""Draw with one of these options only; with none at all where the tuple is empty."""',
    ]
    return "\n".join(lines) + "\n"
