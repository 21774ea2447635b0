"""CB306: a stream whose order depends on the number of loader workers."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, base_name, constant, is_constant
from jupyter_clusterbridge.lint.chains import chain_root, methods_before
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_LOADER = "torch.utils.data.DataLoader"
_HOST = {"os.cpu_count", "multiprocessing.cpu_count", "os.process_cpu_count", "joblib.cpu_count"}


class StreamingOrder(Rule):
    """A streamed data set is read by several loader workers.

    ## What it does

    Reports a `DataLoader` with `num_workers` above 1 over a Hugging Face data set in streaming form
    (`load_dataset(..., streaming=True)` or `to_iterable_dataset()`): as information where the number is a
    constant, as a warning where it comes from the machine.

    ## Why it matters on a cluster

    Each worker reads its own shards, and their batches are taken in turn. Another number of workers, or
    fewer shards than workers, gives the same samples in another order: other batches and another model.

    ## Bad example

    ```python
    import os

    from datasets import load_dataset
    from torch.utils.data import DataLoader

    stream = load_dataset("allenai/c4", "en", split="train", streaming=True, revision="1588ec4")
    loader = DataLoader(stream, batch_size=8, num_workers=os.cpu_count())  # <-- here
    ```

    ## Good example

    ```python
    from datasets import load_dataset
    from torch.utils.data import DataLoader

    stream = load_dataset("allenai/c4", "en", split="train", streaming=True, revision="1588ec4")
    loader = DataLoader(stream, batch_size=8, num_workers=1)
    ```

    ## Remedy

    Read with one worker, or write the number of workers down as a constant and give the job as many CPUs.
    """

    code = "CB306"
    name = "streaming-order"
    words = frozenset({"streaming", "to_iterable_dataset"})
    calls = frozenset({_LOADER})
    confidence = Confidence.MEDIUM

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._streams: set[str] = set()

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a stream."""
        assert isinstance(node, ast.Assign)
        held = self._streamed(node.value, cell)
        for target in node.targets:
            if isinstance(target, ast.Name):
                (self._streams.add if held else self._streams.discard)(target.id)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at loaders."""
        source = argument(node, "dataset", 0)
        workers = argument(node, "num_workers", 5)
        if source is None or workers is None or not self._streamed(source, cell):
            return
        number = constant(workers, cell)
        if isinstance(workers, ast.Call) and cell.resolve(workers.func) in _HOST:
            self.report(cell, node, "the order of a stream follows the number of CPUs of this machine")
        elif isinstance(number, int) and number > 1:
            message = f"the order of a stream depends on its {number} loader workers"
            self.report(cell, node, message, severity=Severity.INFO)

    def _streamed(self, node: ast.expr, cell: CellContext) -> bool:
        if "to_iterable_dataset" in methods_before(node):
            return True
        root = chain_root(node)
        if isinstance(root, ast.Call):
            if cell.resolve(root.func) == "datasets.load_dataset":
                return is_constant(argument(root, "streaming"), True, cell)
            return base_name(root.func) in self._streams
        return root is not None and root.id in self._streams
