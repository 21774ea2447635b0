"""CB103: augmentation in loader workers with no seed of its own."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import stream_drawn
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_RANDOM_TRANSFORMS = ("Random", "ColorJitter", "AutoAugment", "RandAugment", "TrivialAugment", "AugMix")


class LoaderWorkersRng(Rule):
    """A `DataLoader` with workers augments at random, with neither `worker_init_fn` nor `generator`.

    ## What it does

    Reports a `DataLoader` with `num_workers` above 0 in a notebook whose functions, data set methods or
    torchvision transforms draw random numbers, when the loader has no `worker_init_fn` and no `generator`.

    ## Why it matters on a cluster

    Each worker has random streams of its own, seeded from the loader's base seed and the worker's number.
    Which sample meets which stream depends on the number of workers, so a job with other CPUs augments
    otherwise; torch before 1.9 gives every worker the same NumPy stream. Without a generator the base seed
    in turn depends on all that was drawn before.

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

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._augments = False
        self._loaders: list[tuple[ast.Call, CellContext]] = []

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Gather loaders with workers, and random draws that a worker may make."""
        assert isinstance(node, ast.Call)
        if cell.callee == "torch.utils.data.DataLoader":
            if self._has_workers(node, cell):
                self._loaders.append((node, cell))
        elif cell.callee is not None and not self._augments:
            in_data_code = cell.function is not None and _is_data_code(cell)
            self._augments = (in_data_code and stream_drawn(node, cell) in ("python", "numpy", "torch")) or (
                cell.callee.startswith("torchvision.transforms.")
                and cell.callee.rpartition(".")[2].startswith(_RANDOM_TRANSFORMS)
            )

    def end_notebook(self) -> None:
        """Report the loaders when something augments."""
        for node, cell in self._loaders if self._augments else ():
            self.report(cell, node, "random augmentation in loader workers has no seed of its own")

    def _has_workers(self, node: ast.Call, cell: CellContext) -> bool:
        workers = argument(node, "num_workers", 5)
        if workers is None or has_star(node) or is_constant(workers, 0, cell):
            return False
        seeded = argument(node, "worker_init_fn") or argument(node, "generator")
        return seeded is None or constant(seeded, cell) is None


def _is_data_code(cell: CellContext) -> bool:
    """Whether the draw stands in a method or function that a loader's worker may call for one sample."""
    names = [getattr(scope.node, "name", "") for scope in cell.scopes[1:] if scope.deferred]
    words = ("getitem", "__iter__", "__call__", "transform", "augment", "collate", "forward")
    return any(word in name.lower() for name in names for word in words[:6])
