"""CB213: a tf.data pipeline that may change its order."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace, set_argument
from jupyter_clusterbridge.lint.rule import Rule

_OPTIONS = ("deterministic", "experimental_deterministic")


class UnorderedTfData(Rule):
    """A `tf.data` pipeline is allowed to hand elements over in any order.

    ## What it does

    Reports `deterministic=False` of `map`, `interleave` and the like, and `options.deterministic = False`.

    ## Why it matters on a cluster

    Elements come in the order in which threads finish them, so that each run trains on other batches,
    whatever the seed.

    ## Bad example

    ```python
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices(["a", "b"])
    rows = files.interleave(tf.data.TextLineDataset, num_parallel_calls=2, deterministic=False)  # <-- here
    ```

    ## Good example

    ```python
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices(["a", "b"])
    rows = files.interleave(tf.data.TextLineDataset, num_parallel_calls=2)
    ```

    ## Remedy

    Leave the argument out; the order is kept by default.
    """

    code = "CB213"
    name = "unordered-tf-data"
    words = frozenset(_OPTIONS)
    methods = frozenset({"map", "interleave", "parallel_interleave"})

    _MESSAGE = "elements may come in another order in each run"

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the argument."""
        if is_constant(argument(node, "deterministic"), False, cell) and "tensorflow" in self.notebook.source:
            self.report(cell, node, self._MESSAGE, fix=set_argument(node, "deterministic", "True", cell))

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at the options' attribute."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr not in _OPTIONS:
            return
        # torch has a setting of this name, and False is its default
        of_torch = (cell.resolve(target) or "").startswith("torch.")
        if is_constant(node.value, False, cell) and "tf.data" in self.notebook.source and not of_torch:
            fix = replace(node.value, "True", cell, "Keep the order")
            self.report(cell, node, self._MESSAGE, fix=fix)
