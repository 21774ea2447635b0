"""CB610: a whole data set on the GPU."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.loaders import DATA_LOADER, has_workers
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_TENSORS = "torch.utils.data.TensorDataset"


class DatasetOnGpu(Rule):
    """All of the data is moved to the GPU, and not batch by batch.

    ## What it does

    Reports a `TensorDataset` of tensors that are moved by `.cuda()` or `.to(device)`: as a warning where a
    loader of it has workers, and otherwise as info.

    ## Why it matters on a cluster

    The job's data is larger than the notebook's sample, and the GPU's memory then has no room for the
    model. With loader workers the first batch raises, since a forked process cannot use CUDA.

    ## Bad example

    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    rows = torch.ones(100, 4)
    data = TensorDataset(rows.to("cuda"))  # <-- here
    loader = DataLoader(data, batch_size=10)
    ```

    ## Good example

    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    rows = torch.ones(100, 4)
    loader = DataLoader(TensorDataset(rows), batch_size=10, pin_memory=True)
    for (batch,) in loader:
        batch = batch.to("cuda", non_blocking=True)
    ```

    ## Remedy

    Keep the data in the host's memory and move each batch.
    """

    code = "CB610"
    name = "dataset-on-gpu"
    severity = Severity.INFO
    words = frozenset({"TensorDataset"})
    calls = frozenset({_TENSORS, DATA_LOADER})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: dict[str, tuple[ast.Call, CellContext]] = {}
        self._with_workers: set[str] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather data sets on the GPU, and loaders with workers."""
        if cell.callee == DATA_LOADER:
            data = argument(node, "dataset", 0)
            if isinstance(data, ast.Name) and has_workers(node, cell):
                self._with_workers.add(data.id)
        elif any(_moved(value) for value in node.args) and self.notebook.uses_cuda:
            self._found.setdefault(_name_of(node, cell), (node, cell))

    def end_notebook(self) -> None:
        """Report what lies on the GPU."""
        for name, (node, cell) in self._found.items():
            if name in self._with_workers:
                message = f"`{name}` lies on the GPU, which a loader's worker cannot use"
                self.report(cell, node, message, severity=Severity.WARNING)
            else:
                self.report(cell, node, "all of the data is moved to the GPU at once")


def _moved(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr == "cuda":
        return True
    target = ast.unparse(value.args[0]) if value.func.attr == "to" and value.args else ""
    return "cuda" in target or "device" in target.lower()


def _name_of(node: ast.Call, cell: CellContext) -> str:
    parent = cell.parents[-1] if cell.parents else None
    target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is node else None
    return target.id if isinstance(target, ast.Name) else ""
