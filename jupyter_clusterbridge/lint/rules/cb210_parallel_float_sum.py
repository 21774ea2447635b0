"""CB210: a float sum over numba's threads."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_JIT = {"numba.njit", "numba.jit"}


class ParallelFloatSum(Rule):
    """A loop over `numba.prange` adds floats up over threads.

    ## What it does

    Reports `total += value` on one number in a `prange` loop of a function compiled with `parallel=True`,
    unless what is added is a whole number.

    ## Why it matters on a cluster

    numba gives each thread a part of the sum and adds the parts at the end. With another number of threads,
    which follows the node's cores, the parts are others and so are the last bits of the sum.

    ## Bad example

    ```python
    import numba


    @numba.njit(parallel=True)
    def norm(values):
        total = 0.0
        for i in numba.prange(len(values)):
            total += values[i] * values[i]  # <-- here
        return total
    ```

    ## Good example

    ```python
    import numba


    @numba.njit(parallel=True)
    def count(values):
        total = 0
        for i in numba.prange(len(values)):
            total += 1
        return total
    ```

    ## Remedy

    Fix the number of threads by `numba.set_num_threads(4)`, or write the parts to an array and add it up in
    one thread.
    """

    code = "CB210"
    name = "parallel-float-sum"
    severity = Severity.INFO
    confidence = Confidence.MEDIUM
    words = frozenset({"prange"})

    def visit_AugAssign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at sums in parallel loops."""
        assert isinstance(node, ast.AugAssign)
        if not isinstance(node.op, (ast.Add, ast.Sub)) or not isinstance(node.target, ast.Name):
            return
        if isinstance(node.value, ast.Constant) or "set_num_threads" in self.notebook.source:
            return
        if _in_parallel_loop(node.target.id, cell):
            message = f"the sum `{node.target.id}` over threads hangs on their number"
            self.report(cell, node, message)


def _in_parallel_loop(name: str, cell: CellContext) -> bool:
    """Whether the place is in a ``prange`` loop of a compiled function in which the name begins as one number."""
    parallel = False
    for node in reversed(cell.parents):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            parallel = parallel or cell.resolve(node.iter.func) == "numba.prange"
        if isinstance(node, ast.FunctionDef):
            compiled = any(_compiles_in_parallel(decorator, cell) for decorator in node.decorator_list)
            return parallel and compiled and any(_starts_as_number(part, name) for part in node.body)
    return False


def _compiles_in_parallel(decorator: ast.expr, cell: CellContext) -> bool:
    if not isinstance(decorator, ast.Call) or cell.resolve(decorator.func) not in _JIT:
        return False
    return is_constant(argument(decorator, "parallel"), True, cell)


def _starts_as_number(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
