"""CB103: augmentation in loader workers with no seed of its own."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, base_name, constant, names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.loaders import DATA_LOADER, has_workers
from jupyter_clusterbridge.lint.randomness import stream_drawn
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import first_seeds
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence, Severity

_SAMPLE_CODE = ("getitem", "__iter__", "__call__", "transform", "augment", "collate")
_RANDOM_TRANSFORMS = ("Random", "ColorJitter", "AutoAugment", "RandAugment", "TrivialAugment", "AugMix")


class LoaderWorkersRng(Rule):
    """A `DataLoader` with workers augments at random, with neither `worker_init_fn` nor `generator`.

    ## What it does

    Reports a `DataLoader` with `num_workers` above 0 whose data set draws random numbers, in a method of its
    class or by a random transform of torchvision that it was made with, when the loader has no
    `worker_init_fn` and no `generator`. A warning where no cell seeds torch, else information.

    ## Why it matters on a cluster

    Each worker has random streams of its own, seeded from the loader's base seed and the worker's number.
    The base seed is drawn from torch's global stream, so without a seed every run augments otherwise. With
    one, which sample meets which stream still depends on the number of workers and on all that was drawn
    before the loop, so a job with fewer CPUs trains on other images.

    ## Bad example

    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    np.random.seed(0)


    class Noisy(Dataset):
        def __getitem__(self, index):
            return np.random.normal(size=4)

        def __len__(self):
            return 64


    loader = DataLoader(Noisy(), batch_size=8, num_workers=4)  # <-- here
    ```

    ## Good example

    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Noisy(Dataset):
        def __getitem__(self, index):
            return np.random.default_rng([0, index]).normal(size=4)

        def __len__(self):
            return 64


    loader = DataLoader(Noisy(), batch_size=8, num_workers=4)
    ```

    ## Remedy

    Draw each sample's randomness from its index, or pass `generator=torch.Generator().manual_seed(SEED)`
    and a `worker_init_fn` that seeds NumPy and `random` from `torch.initial_seed()`, and keep `num_workers`
    as it was.
    """

    code = "CB103"
    name = "loader-workers-rng"
    confidence = Confidence.MEDIUM
    words = frozenset({"num_workers"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._random: set[str] = set()
        """Names of classes, functions and values that draw when a sample is made."""

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Note draws within data code, and look at loaders."""
        assert isinstance(node, ast.Call)
        if cell.callee == DATA_LOADER:
            self._look_at(node, cell)
        elif cell.function is not None and stream_drawn(node, cell) in ("python", "numpy", "torch"):
            self._random |= _data_code(cell)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """What is made with something random is random too."""
        assert isinstance(node, ast.Assign)
        if not self._draws(node.value, cell):
            return
        for target in node.targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            self._random |= {name for part in parts if (name := base_name(part)) not in (None, "self")}

    def _look_at(self, node: ast.Call, cell: CellContext) -> None:
        seeded = argument(node, "worker_init_fn") or argument(node, "generator")
        sources = [argument(node, "dataset", 0), argument(node, "collate_fn", 6)]
        if not has_workers(node, cell) or (seeded and constant(seeded, cell) is not None):
            return
        if not any(self._draws(source, cell) for source in sources if source is not None):
            return
        if "torch" in first_seeds(self.notebook):
            message = "which random augmentation a sample gets depends on the number of workers"
            self.report(cell, node, message, severity=Severity.INFO)
        else:
            self.report(cell, node, "the random augmentation in the loader's workers is not seeded")

    def _draws(self, value: ast.expr, cell: CellContext) -> bool:
        return bool(names_in(value) & self._random) or any(
            _is_random_transform(cell.resolve(inner.func))
            for inner in descend(value)
            if isinstance(inner, ast.Call)
        )


def _is_random_transform(name: str | None) -> bool:
    if name is None or not name.startswith("torchvision.transforms."):
        return False
    return name.rpartition(".")[2].startswith(_RANDOM_TRANSFORMS)


def _data_code(cell: CellContext) -> set[str]:
    """The class or function around a draw, where a loader's worker may call it for a sample."""
    scopes = [scope.node for scope in cell.scopes[1:]]
    names = [getattr(node, "name", "") for node in scopes]
    if not any(part in name.lower() for name in names for part in _SAMPLE_CODE):
        return set()
    return {names[0]}
