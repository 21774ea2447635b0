"""CB217: floating-point rules that a compiler may break."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class FastMath(Rule):
    """numba compiles with `fastmath`.

    ## What it does

    Reports `fastmath=True` of `numba.njit`, `jit`, `vectorize` and `guvectorize`.

    ## Why it matters on a cluster

    The compiler may then add in another order, as wide as the CPU's vectors are, and may assume that there
    are no NaN: on a node with another CPU the same job rounds otherwise, and `np.isnan` may say False for a
    NaN.

    ## Bad example

    ```python
    import numba


    @numba.njit(fastmath=True)  # <-- here
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result
    ```

    ## Good example

    ```python
    import numba


    @numba.njit
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result
    ```

    ## Remedy

    Leave `fastmath` out, or fix the CPU's model among the job's resources.
    """

    code = "CB217"
    name = "fast-math"
    severity = Severity.INFO
    words = frozenset({"fastmath"})
    calls = frozenset(f"numba.{name}" for name in ("jit", "njit", "vectorize", "guvectorize", "stencil"))

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the argument."""
        if constant(argument(node, "fastmath"), cell) is True:
            self.report(cell, node, "with `fastmath` the result hangs on the CPU's model")
