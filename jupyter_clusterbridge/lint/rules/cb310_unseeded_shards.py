"""CB310: WebDataset shards in another order each time."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star, is_constant
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_SOURCES = {"webdataset.WebDataset", "webdataset.DataPipeline", "webdataset.WebLoader"}
_RESAMPLED = {"webdataset.ResampledShards", "webdataset.shardlists.ResampledShards"}


class UnseededShards(Rule):
    """WebDataset shuffles or draws its shards from the clock.

    ## What it does

    Reports `WebDataset(..., resampled=True)` and `ResampledShards` without `deterministic=True`,
    `shardshuffle` without `seed` or `detshuffle`, and `shuffle(n)` in a WebDataset pipeline without `rng` or
    `seed`.

    ## Why it matters on a cluster

    The library makes these generators from the process id and the time when none is given, so that seeds
    set elsewhere in the notebook have no effect and no two jobs see the same order.

    ## Bad example

    ```python
    import webdataset as wds

    data = wds.WebDataset("train-{0000..0099}.tar", shardshuffle=100)  # <-- here
    data = data.shuffle(1000).decode("rgb")  # <-- here
    ```

    ## Good example

    ```python
    import random

    import webdataset as wds

    data = wds.WebDataset("train-{0000..0099}.tar", shardshuffle=100, detshuffle=True, seed=0)
    data = data.shuffle(1000, rng=random.Random(0)).decode("rgb")
    ```

    ## Remedy

    Pass `detshuffle=True, seed=...` for shards, `rng=random.Random(...)` for samples, and
    `deterministic=True` for resampling.
    """

    code = "CB310"
    name = "unseeded-shards"
    confidence = Confidence.MEDIUM
    words = frozenset({"webdataset"})
    calls = frozenset({"webdataset.*"})
    methods = frozenset({"shuffle"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._origins = Origins(lambda name: name in _SOURCES)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a pipeline."""
        assert isinstance(node, ast.Assign)
        self._origins.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at pipelines and their shuffles."""
        if has_star(node):
            return
        called = cell.callee or ""
        seeded = argument(node, "seed") is not None or argument(node, "rng") is not None
        if called == "webdataset.WebDataset":
            self._pipeline(node, cell, seeded=seeded)
        elif called in _RESAMPLED:
            if not is_constant(argument(node, "deterministic"), True, cell):
                self.report(cell, node, "`ResampledShards` draws its shards from the clock")
        elif not seeded and (called == "webdataset.shuffle" or self._shuffles(node, cell)):
            self.report(cell, node, "`shuffle` of a WebDataset pipeline draws from the clock")

    def _pipeline(self, node: ast.Call, cell: CellContext, *, seeded: bool) -> None:
        shards = constant(argument(node, "shardshuffle"), cell)
        if is_constant(argument(node, "resampled"), True, cell) and not seeded:
            self.report(cell, node, "`resampled=True` draws the shards from the clock")
        elif isinstance(shards, int) and shards and not seeded and argument(node, "detshuffle") is None:
            if "random.seed(" in self.notebook.source or "WDS_SEED" in self.notebook.source:
                return  # newer versions draw the seed from there
            self.report(cell, node, "`shardshuffle` without `detshuffle` and `seed` is another order in each run")

    def _shuffles(self, node: ast.Call, cell: CellContext) -> bool:
        target = node.func
        if (
            not isinstance(target, ast.Attribute)
            or target.attr != "shuffle"
            or is_constant(node.args[0] if node.args else None, 0, cell)
        ):
            return False
        return self._origins.holds(target.value, cell)
