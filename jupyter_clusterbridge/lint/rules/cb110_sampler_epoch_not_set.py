"""CB110: a distributed sampler that shuffles alike in every epoch."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
_TRAINERS = ("Trainer(", "Accelerator(", "Fabric(", "prepare(", "fit(")


class SamplerEpochNotSet(Rule):
    """A `DistributedSampler` shuffles, and nothing calls its `set_epoch`.

    ## What it does

    Reports `DistributedSampler(...)` without `shuffle=False` in a notebook that never mentions `set_epoch`
    and leaves training to no trainer that calls it.

    ## Why it matters on a cluster

    The sampler derives its order from its seed and the epoch alone. Without `set_epoch` every epoch has the
    same order, as the documentation of torch warns; with one process nobody notices.

    ## Bad example

    ```python
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    rows = list(range(64))
    sampler = DistributedSampler(rows, num_replicas=2, rank=0)  # <-- here
    loader = DataLoader(rows, sampler=sampler)
    for epoch in range(3):
        for batch in loader:
            print(batch)
    ```

    ## Good example

    ```python
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    rows = list(range(64))
    sampler = DistributedSampler(rows, num_replicas=2, rank=0)
    loader = DataLoader(rows, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            print(batch)
    ```

    ## Remedy

    Call `sampler.set_epoch(epoch)` at the top of each epoch.
    """

    code = "CB110"
    name = "sampler-epoch-not-set"
    words = frozenset({"DistributedSampler"})
    calls = frozenset({_SAMPLER, "torch.utils.data.DistributedSampler"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at samplers."""
        source = self.notebook.source
        if "set_epoch" in source or any(word in source for word in _TRAINERS):
            return
        if not is_constant(argument(node, "shuffle", 3), False, cell):
            self.report(cell, node, "the sampler shuffles alike in every epoch, since nothing calls `set_epoch`")
