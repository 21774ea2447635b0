"""CB218: JAX on a GPU without deterministic operations."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_GPU = ("jax[cuda", "cuda", "gpu", "GPU")
_FLAG = "xla_gpu_deterministic_ops"


class JaxGpuDeterminism(Rule):
    """JAX computes gradients on a GPU, and XLA is not told to be deterministic.

    ## What it does

    Reports the first `jax.grad` or `jax.value_and_grad` of a notebook that speaks of a GPU and never
    mentions `xla_gpu_deterministic_ops`.

    ## Why it matters on a cluster

    By default XLA uses atomic additions for scatters and picks matrix products by timing them, so that two
    runs of one job differ in the last bits although JAX's keys are explicit.

    ## Bad example

    ```python
    import jax

    print(jax.devices("gpu"))
    slope = jax.grad(lambda x: x**2)  # <-- here
    ```

    ## Good example

    ```python
    import os

    os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"

    import jax

    print(jax.devices("gpu"))
    slope = jax.grad(lambda x: x**2)
    ```

    ## Remedy

    Set `XLA_FLAGS=--xla_gpu_deterministic_ops=true` in the job's environment.
    """

    code = "CB218"
    name = "jax-gpu-determinism"
    severity = Severity.INFO
    words = frozenset({"jax"})
    calls = frozenset({"jax.grad", "jax.value_and_grad"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        self._done = _FLAG in source or not any(word in source for word in _GPU)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the first gradient."""
        if not self._done:
            self._done = self.report(cell, node, "XLA's operations differ from run to run on a GPU")
