"""CB307: Hugging Face data sets shuffled or split without a seed."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star, is_constant, method
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.free_seeds import FreeSeeds, runs_often
from jupyter_clusterbridge.lint.rule import Rule

_SOURCES = {"datasets.load_dataset", "datasets.load_from_disk", "datasets.concatenate_datasets",
            "datasets.interleave_datasets"}  # fmt: skip
_LEAVING = ("to_pandas", "to_polars", "to_dict", "to_list", "to_tf_dataset", "features")
_GLOBAL = ("np.random.seed", "numpy.random.seed", "set_seed", "seed_everything", "enable_full_determinism",
           "npr.seed", "seed_all", "fix_seed", "random_seed", "set_random_seed")  # fmt: skip


class UnseededDatasetShuffle(Rule):
    """A Hugging Face data set is shuffled or split without a seed.

    ## What it does

    Reports `shuffle()` and `train_test_split()` without `seed` or `generator` on what `load_dataset` and the
    like give. Data sets in memory draw from NumPy's global stream, so nothing is reported where the notebook
    seeds it.

    ## Why it matters on a cluster

    The job trains on other rows in another order than the notebook. With a split, rows that the notebook
    tested on are trained on.

    ## Bad example

    ```python
    from datasets import load_dataset

    data = load_dataset("stanfordnlp/imdb", split="train", revision="e6281661ce1c48d982bc483cf8a173c1bbeb5d31")
    parts = data.train_test_split(test_size=0.2)  # <-- here
    small = data.shuffle().select(range(1000))  # <-- here
    ```

    ## Good example

    ```python
    from datasets import load_dataset

    data = load_dataset("stanfordnlp/imdb", split="train", revision="e6281661ce1c48d982bc483cf8a173c1bbeb5d31")
    parts = data.train_test_split(test_size=0.2, seed=0)
    small = data.shuffle(seed=0).select(range(1000))
    ```

    ## Remedy

    Pass `seed=`, from a parameter of the notebook.
    """

    code = "CB307"
    name = "unseeded-dataset-shuffle"
    words = frozenset({"load_dataset", "load_from_disk", "datasets.Dataset", "import Dataset"})
    methods = frozenset({"shuffle", "train_test_split"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._origins = Origins(lambda name: name in _SOURCES or name.startswith("datasets.Dataset."), _LEAVING)
        self._found: list[tuple[str, ast.Call, CellContext, bool]] = []
        self._seeds = FreeSeeds()
        self._seeded = any(word in notebook.source for word in _GLOBAL)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a data set."""
        assert isinstance(node, ast.Assign)
        self._origins.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at shuffles and splits."""
        name = method(node)
        if name is None or has_star(node) or not isinstance(node.func, ast.Attribute):
            return
        self._seeds.note(name, argument(node, "seed"), cell)
        if any(argument(node, given) is not None for given in ("seed", "seeds", "generator", "generators")):
            return
        if (name == "shuffle" and node.args) or is_constant(argument(node, "shuffle"), False, cell):
            return
        if self._origins.holds(node.func.value, cell) and not self._seeded:
            self._found.append((name, node, cell, runs_often(cell)))

    def end_notebook(self) -> None:
        """Report them, each with a seed of its own in its fix."""
        for name, node, cell, often in self._found:
            fix = None if often else self._seeds.fix(name, "seed", node, cell)
            self.report(cell, node, f"`{name}` of a data set without `seed` is another one in each run", fix=fix)
