"""CB416: well-known data sets that a library downloads on first use."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Severity

_SKLEARN = words("""
    fetch_20newsgroups fetch_20newsgroups_vectorized fetch_california_housing fetch_covtype fetch_kddcup99
    fetch_lfw_pairs fetch_lfw_people fetch_olivetti_faces fetch_rcv1 fetch_species_distributions
""")
_OTHERS = {"seaborn.load_dataset", "tensorflow_datasets.load", "tensorflow_datasets.builder", "vega_datasets.data",
           "statsmodels.api.datasets.get_rdataset", "fastai.data.external.untar_data",
           "ogb.nodeproppred.NodePropPredDataset",
           "ogb.graphproppred.GraphPropPredDataset"}  # fmt: skip


class DatasetDownload(Rule):
    """A library downloads a well-known data set on first use.

    ## What it does

    Reports, as information, `download=True` of torchvision and torchaudio, `load_data()` of Keras, the
    `fetch_` functions of scikit-learn, `seaborn.load_dataset` and `tfds.load`; once for each function.

    ## Why it matters on a cluster

    The author's machine has the data in a cache in the home folder; a job starts without it. A node without
    a way out fails, and workers that start at once write into each other's files.

    ## Bad example

    ```python
    from torchvision.datasets import MNIST

    train = MNIST("data", train=True, download=True)  # <-- here
    ```

    ## Good example

    ```python
    from sklearn.datasets import load_iris
    from torchvision.datasets import MNIST

    train = MNIST("data", train=True)
    small = load_iris()
    ```

    ## Remedy

    Download once into a folder that is declared as the job's data, and load from there.
    """

    code = "CB416"
    name = "dataset-download"
    severity = Severity.INFO
    words = frozenset(
        {"download", "load_data", "fetch_", "load_dataset", "tensorflow_datasets", "untar_data", "_rdataset"}
    )
    calls = frozenset(
        {"torchvision.datasets.*", "torchaudio.datasets.*", "tensorflow.keras.datasets.*", "keras.datasets.*"}
        | {f"sklearn.datasets.{name}" for name in _SKLEARN}
        | _OTHERS
    )

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[str] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at loaders of data sets."""
        called = cell.callee or ""
        if called in self._seen:
            return
        if called.startswith(("torchvision.", "torchaudio.")):
            loads = is_constant(argument(node, "download"), True, cell)
        elif "keras.datasets." in called:
            loads = called.endswith(".load_data")
        else:
            loads = not is_constant(argument(node, "download_if_missing"), False, cell)
        if loads and self.report(cell, node, f"`{called}` downloads where its cache is empty"):
            self._seen.add(called)
