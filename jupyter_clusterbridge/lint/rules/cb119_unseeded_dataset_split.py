"""CB119: a Hugging Face data set that is split or shuffled without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import set_argument
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import seeded_before


class UnseededDatasetSplit(Rule):
    """A data set of Hugging Face `datasets` is split without a seed.

    ## What it does

    Reports `dataset.train_test_split(...)` of the library `datasets` without `seed` or `generator`, as long
    as nothing above has seeded NumPy's global stream, from which it draws then. With `shuffle=False` nothing
    is drawn.

    ## Why it matters on a cluster

    The job's training set holds rows of the notebook's test set, and no two evaluations can be compared.

    ## Bad example

    ```python
    from datasets import load_dataset

    rows = load_dataset("imdb", split="train")
    parts = rows.train_test_split(test_size=0.1)  # <-- here
    ```

    ## Good example

    ```python
    from datasets import load_dataset

    rows = load_dataset("imdb", split="train")
    parts = rows.train_test_split(test_size=0.1, seed=0)
    ```

    ## Remedy

    Pass `seed=SEED`.
    """

    code = "CB119"
    name = "unseeded-dataset-split"
    words = frozenset({"datasets"})
    methods = frozenset({"train_test_split"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at splits by the method; scikit-learn's is a function."""
        if not isinstance(node.func, ast.Attribute) or cell.callee is not None or has_star(node):
            return
        given = any(argument(node, name) is not None for name in ("seed", "generator", "random_state"))
        if given or is_constant(argument(node, "shuffle"), False, cell):
            return
        packages = {target.split(".")[0] for target in self.notebook.aliases.values()}
        if "datasets" in packages and not seeded_before("numpy", node, cell):
            message = f"`{ast.unparse(node.func)}` splits otherwise in each run"
            self.report(cell, node, message, fix=set_argument(node, "seed", "0", cell))
