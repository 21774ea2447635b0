"""CB309: TensorFlow pipelines that may change the order of their elements."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace, set_argument
from jupyter_clusterbridge.lint.rule import Rule

_OPTIONS = {"deterministic", "experimental_deterministic"}


class NondeterministicTfData(Rule):
    """A `tf.data` pipeline is allowed to give its elements in any order.

    ## What it does

    Reports `deterministic=False` in `map`, `interleave` and the like, and options of a data set that set
    `deterministic` or `experimental_deterministic` to False.

    ## Why it matters on a cluster

    The elements then come in the order in which threads finish, another one on a busy node. No seed helps:
    two runs of one job get other batches.

    ## Bad example

    ```python
    import tensorflow as tf

    data = tf.data.Dataset.range(8)
    data = data.map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)  # <-- here
    options = tf.data.Options()
    options.deterministic = False  # <-- here
    ```

    ## Good example

    ```python
    import tensorflow as tf

    data = tf.data.Dataset.range(8)
    data = data.map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE)
    ```

    ## Remedy

    Leave `deterministic` at its default, or set it to True.
    """

    code = "CB309"
    name = "nondeterministic-tf-data"
    words = frozenset({"deterministic"})
    methods = frozenset({"map", "interleave", "map_and_batch", "parallel_interleave"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at transformations."""
        if "tensorflow" in self.notebook.source and is_constant(argument(node, "deterministic"), False, cell):
            fix = set_argument(node, "deterministic", "True", cell)
            message = "`deterministic=False` gives elements in the order in which threads finish"
            self.report(cell, node, message, fix=fix)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at options."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr not in _OPTIONS:
            return
        # torch.backends.cudnn.deterministic and the like are about something else
        tensorflow = "tensorflow" in self.notebook.source and cell.resolve(target) is None
        if tensorflow and is_constant(node.value, False, cell):
            fix = replace(node.value, "True", cell, "Keep the order")
            message = f"`{target.attr} = False` lets a pipeline change the order of its elements"
            self.report(cell, node, message, fix=fix)
