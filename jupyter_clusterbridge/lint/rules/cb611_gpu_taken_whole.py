"""CB611: one framework takes the GPU's memory that another needs."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_BOUNDED = (
    "set_memory_growth", "set_logical_device_configuration", "set_virtual_device_configuration",
    "TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_ALLOCATOR", "allow_growth", "set_visible_devices", "KERAS_BACKEND",
)  # fmt: skip
_GREEDY = ("tensorflow", "jax")
_MOVES = (".cuda(", 'to("cuda', "to('cuda", "to(device", 'device="cuda', "device='cuda")


class GpuTakenWhole(Rule):
    """TensorFlow or JAX takes the GPU's memory at its first use, and torch is on the same GPU.

    ## What it does

    Reports the import of TensorFlow or JAX in a notebook that computes with torch on CUDA as well and sets
    neither memory growth nor a fraction. Both must be called, and not only imported.

    ## Why it matters on a cluster

    TensorFlow takes all of the GPU's memory and JAX three quarters of it with their first operation. What
    torch asks for afterwards fails, whatever the model's size.

    ## Bad example

    ```python
    import tensorflow as tf  # <-- here
    import torch

    table = tf.constant([1.0, 2.0])
    model = torch.nn.Linear(4, 2).to("cuda")
    ```

    ## Good example

    ```python
    import tensorflow as tf
    import torch

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    table = tf.constant([1.0, 2.0])
    model = torch.nn.Linear(4, 2).to("cuda")
    ```

    ## Remedy

    Call `tf.config.experimental.set_memory_growth`, or set `XLA_PYTHON_CLIENT_PREALLOCATE=false` in the
    job's environment.
    """

    code = "CB611"
    name = "gpu-taken-whole"
    words = frozenset(_GREEDY)
    calls = frozenset(
        {"tensorflow.constant", "tensorflow.Variable", "tensorflow.convert_to_tensor", "tensorflow.zeros",
         "tensorflow.ones", "tensorflow.keras.Sequential", "tensorflow.keras.Model", "tensorflow.random.normal",
         "jax.numpy.*", "jax.random.*", "torch.*"}
    )  # fmt: skip

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        on_gpu = "torch" in source and any(word in source for word in _MOVES)
        self._off = not on_gpu or any(word in source for word in _BOUNDED)
        self._imports: dict[str, tuple[ast.AST, CellContext]] = {}
        self._used: set[str] = set()

    def visit_Import(self, node: ast.AST, cell: CellContext) -> None:
        """Note where each framework is imported."""
        assert isinstance(node, ast.Import)
        for name in node.names:
            self._imports.setdefault(name.name.split(".")[0], (node, cell))

    def visit_ImportFrom(self, node: ast.AST, cell: CellContext) -> None:
        """Note where each framework is imported."""
        assert isinstance(node, ast.ImportFrom)
        if node.module and not node.level:
            self._imports.setdefault(node.module.split(".")[0], (node, cell))

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Note which frameworks compute."""
        self._used.add((cell.callee or "").split(".")[0])

    def end_notebook(self) -> None:
        """Report the greedy one when torch computes beside it."""
        if self._off or "torch" not in self._used:
            return
        for greedy in _GREEDY:
            if greedy in self._used and greedy in self._imports:
                node, cell = self._imports[greedy]
                self.report(cell, node, f"`{greedy}` takes the memory of the GPU that torch needs as well")
