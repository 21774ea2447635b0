"""CB308: TensorFlow data shuffled without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star, is_constant
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_LIST_FILES = "tensorflow.data.Dataset.list_files"
_SOURCES = ("tensorflow.data.", "tensorflow_datasets.load", "tensorflow_datasets.as_dataset")
_BUILDERS = ("_dataset_from_directory", "make_csv_dataset", "TFRecordDataset")
_SEEDS = ("set_seed", "set_random_seed", "seed_everything", "seed_all", "enable_op_determinism")


class UnseededTfShuffle(Rule):
    """A `tf.data` pipeline is shuffled without a seed.

    ## What it does

    Reports `shuffle(...)` without `seed` on a `tf.data` data set, and `Dataset.list_files`, which shuffles
    unless it is told not to. Nothing is reported where the notebook calls `tf.random.set_seed` or the like.

    ## Why it matters on a cluster

    The batches come in another order in each run, so that the job's model is not the notebook's and nobody
    can tell whether anything else has changed.

    ## Bad example

    ```python
    import tensorflow as tf

    files = tf.data.Dataset.list_files("shards/*.tfrecord")  # <-- here
    data = tf.data.TFRecordDataset(files)
    data = data.shuffle(1000).batch(32)  # <-- here
    ```

    ## Good example

    ```python
    import tensorflow as tf

    files = tf.data.Dataset.list_files("shards/*.tfrecord", shuffle=False)
    data = tf.data.TFRecordDataset(files)
    data = data.shuffle(1000, seed=0).batch(32)
    ```

    ## Remedy

    Call `tf.random.set_seed(...)` in the first cell, or pass `seed=`.
    """

    code = "CB308"
    name = "unseeded-tf-shuffle"
    words = frozenset({"tensorflow"})
    calls = frozenset({_LIST_FILES})
    methods = frozenset({"shuffle"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._origins = Origins(
            lambda name: name.startswith(_SOURCES) or name.endswith(_BUILDERS), ("as_numpy_iterator", "take_while")
        )
        self._seeded = any(word in notebook.source for word in _SEEDS)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a data set."""
        assert isinstance(node, ast.Assign)
        self._origins.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at shuffles and at listings."""
        if self._seeded or has_star(node) or not isinstance(node.func, ast.Attribute):
            return
        if cell.callee == _LIST_FILES:
            if argument(node, "seed", 2) is None and not is_constant(argument(node, "shuffle", 1), False, cell):
                self.report(cell, node, "`list_files` shuffles the files, without a seed")
        elif node.func.attr == "shuffle" and argument(node, "seed", 1) is None:
            sized = bool(node.args) or argument(node, "buffer_size") is not None
            if sized and self._origins.holds(node.func.value, cell):
                self.report(cell, node, "`shuffle` of a `tf.data` data set without a seed")
