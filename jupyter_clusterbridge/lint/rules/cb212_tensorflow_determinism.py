"""CB212: TensorFlow is seeded, and its operations are not deterministic."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_SEEDS = frozenset(
    {"tensorflow.random.set_seed", "tensorflow.keras.utils.set_random_seed", "keras.utils.set_random_seed"}
)
_SWITCHES = ("enable_op_determinism", "TF_DETERMINISTIC_OPS")


class TensorflowDeterminism(Rule):
    """TensorFlow is seeded and trained, and deterministic operations are not asked for.

    ## What it does

    Reports the seed of a notebook that fits a model and never calls
    `tf.config.experimental.enable_op_determinism()`. It concerns GPUs and parallel input pipelines, so that
    it is of info level.

    ## Why it matters on a cluster

    With a seed alone, a job on a GPU starts from the same weights and ends with other ones: many gradients
    are added by atomic additions, and `tf.data` may hand elements over in another order.

    ## Bad example

    ```python
    import tensorflow as tf

    tf.random.set_seed(0)  # <-- here
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    model.fit(tf.ones((8, 4)), tf.ones((8, 1)))
    ```

    ## Good example

    ```python
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    tf.config.experimental.enable_op_determinism()
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    model.fit(tf.ones((8, 4)), tf.ones((8, 1)))
    ```

    ## Remedy

    Call `tf.config.experimental.enable_op_determinism()` below the seed.
    """

    code = "CB212"
    name = "tensorflow-determinism"
    severity = Severity.INFO
    words = frozenset({"tensorflow", "keras"})
    calls = _SEEDS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        on_tensorflow = "tensorflow" in source and "KERAS_BACKEND" not in source
        self._done = not on_tensorflow or ".fit(" not in source or any(word in source for word in _SWITCHES)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the first seed."""
        if not self._done:
            message = "TensorFlow is seeded, and on a GPU its operations still differ from run to run"
            self._done = self.report(cell, node, message)
