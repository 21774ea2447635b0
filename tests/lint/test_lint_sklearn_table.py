"""The table of what draws in scikit-learn against the scikit-learn that is installed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from lint_kit import Lint

from jupyter_clusterbridge.lint import sklearn_draws, sklearn_table


@pytest.fixture
def trial(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the script that makes the table."""
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(str(repository / "dev"))
    sys.modules.pop("sklearn_trial", None)
    return importlib.import_module("sklearn_trial")


def test_the_table_names_all_that_takes_a_random_state(trial: ModuleType) -> None:
    import sklearn

    known = sklearn_table.ALWAYS | sklearn_table.WHEN_SHUFFLED | sklearn_table.WITH_OPTION.keys()
    members = set(trial.members())
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    if version == sklearn_table.VERSION:
        assert members == known
    else:
        # another scikit-learn has some more or some less; the rule asks the signatures of a newer one
        assert len(members & known) > 0.9 * len(members)


@pytest.mark.parametrize(
    "name", ["KMeans", "RandomForestClassifier", "train_test_split", "make_blobs", "ShuffleSplit"]
)
def test_what_the_table_says_to_draw_gives_another_result_for_another_seed(name: str, trial: ModuleType) -> None:
    assert name in sklearn_table.ALWAYS
    assert trial.hangs_on_the_stream(trial.members()[name], {}) is True


@pytest.mark.parametrize("name", ["SVC", "Ridge", "PCA", "Lasso"])
def test_what_the_table_says_not_to_draw_gives_the_same_result_for_any_seed(name: str, trial: ModuleType) -> None:
    assert name in sklearn_table.WITH_OPTION
    assert trial.hangs_on_the_stream(trial.members()[name], {}) is False


def test_what_a_newer_scikit_learn_has_in_addition_is_told_by_its_signature(
    lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(sklearn_table, "ALWAYS", sklearn_table.ALWAYS - {"KMeans"})
    monkeypatch.setattr(sklearn_draws, "_is_newer", lambda: True)
    found = lint("from sklearn.cluster import KMeans, DBSCAN\nKMeans(3)\nDBSCAN()")
    assert [(f.code, f.line, f.severity.value) for f in found if f.code == "CB104"] == [("CB104", 2, "info")]


def test_the_table_serves_where_scikit_learn_is_not_installed(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sklearn_draws, "_is_newer", lambda: False)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    found = lint("from sklearn.cluster import KMeans, DBSCAN\nKMeans(3)\nDBSCAN()")
    assert [f.line for f in found if f.code == "CB104"] == [2]
