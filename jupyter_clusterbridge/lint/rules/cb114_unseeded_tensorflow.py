"""CB114: TensorFlow and Keras without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.lint.seeding import first_seeds, seeded_before

_LAYERS = words("""
    Dense Conv1D Conv2D Conv3D Conv2DTranspose SeparableConv2D DepthwiseConv2D Embedding LSTM GRU SimpleRNN
    MultiHeadAttention
""")
_DRAWS = words("normal uniform truncated_normal shuffle categorical gamma poisson")
_HOMES = ("tensorflow.keras.layers.", "keras.layers.", "tensorflow.keras.layers.experimental.")


class UnseededTensorflow(Rule):
    """TensorFlow draws initial weights or numbers, and nothing seeds it.

    ## What it does

    Reports the first Keras layer with weights or the first `tf.random` draw above any
    `tf.random.set_seed`, `keras.utils.set_random_seed` or helper whose name speaks of seeding.

    ## Why it matters on a cluster

    The job starts from other weights than the notebook did and trains another model.

    ## Bad example

    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])  # <-- here
    model.compile(loss="mse")
    ```

    ## Good example

    ```python
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    ```

    ## Remedy

    Call `keras.utils.set_random_seed(SEED)` in a cell above; it seeds Python, NumPy and TensorFlow.
    """

    code = "CB114"
    name = "unseeded-tensorflow"
    words = frozenset({"keras", "tensorflow"})
    calls = frozenset({f"{home}{layer}" for home in _HOMES for layer in _LAYERS}) | {
        f"tensorflow.random.{draw}" for draw in _DRAWS
    }

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._done = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look for the first draw."""
        if self._done or self._is_seeded(node, cell):
            return
        given = any(argument(node, name) is not None for name in ("seed", "kernel_initializer", "weights"))
        if given or has_star(node):
            return
        drawn = ast.unparse(node.func)
        what = "takes its weights" if "layers" in (cell.callee or "") else "draws"
        self._done = self.report(
            cell, node, f"`{drawn}` {what} from TensorFlow's stream, which nothing has seeded"
        )

    def _is_seeded(self, node: ast.Call, cell: CellContext) -> bool:
        # only Keras 3 on another backend draws from that one's stream, which has rules of its own
        if "KERAS_BACKEND" in self.notebook.source or "theano" in self.notebook.source:
            return True
        return "tensorflow" in first_seeds(self.notebook) and seeded_before("tensorflow", node, cell)
