"""CB502: the notebook is left before its last cell."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import calls_in
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_EXITS = {"sys.exit", "builtins.exit", "builtins.quit", "os._exit", "os.abort"}


class EarlyExit(Rule):
    """A cell before the last one ends the kernel.

    ## What it does

    Reports `sys.exit`, `exit`, `quit`, `os._exit`, `os.kill(os.getpid(), ...)`, `kernel.do_shutdown(...)` and
    `raise SystemExit` at the top level of a cell that is not the last, at error level where the cell always
    gets there and as a warning under a condition.

    ## Why it matters on a cluster

    In a notebook, `sys.exit()` stops one cell and a person goes on with the next. In a job the cells that
    follow do not run, and an exit code of 0 would make it look well; the job's supervisor counts it as a
    failure.

    ## Bad example

    ```python
    import sys

    loss = 0.3
    sys.exit(0)  # <-- here
    # %%
    print(loss)
    ```

    ## Good example

    ```python
    import sys


    def fail(message):
        sys.exit(message)
    # %%
    loss = 0.3
    # %%
    sys.exit(0)
    ```

    ## Remedy

    Remove the call, put what follows under a condition, or raise an exception that says what is wrong.
    """

    code = "CB502"
    name = "early-exit"
    words = frozenset({"exit", "quit", "abort", "SystemExit", "do_shutdown", "kill("})
    calls = frozenset({*_EXITS, "os.kill"})
    methods = frozenset({"do_shutdown"})
    severity = Severity.ERROR

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that end the process."""
        restarts = isinstance(node.func, ast.Attribute) and node.func.attr == "do_shutdown"
        if cell.callee in _EXITS or restarts:
            self._report(node, (cell.callee or "do_shutdown").removeprefix("builtins."), cell)
        elif cell.callee == "os.kill" and node.args and "os.getpid" in set(calls_in(node.args[0], cell)):
            self._report(node, "os.kill(os.getpid(), ...)", cell)

    def visit_Raise(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``raise SystemExit``."""
        assert isinstance(node, ast.Raise)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if raised is not None and cell.resolve(raised) == "builtins.SystemExit":
            self._report(node, "raise SystemExit", cell)

    def _report(self, node: ast.AST, shown: str, cell: CellContext) -> None:
        if cell.function is not None or cell.cell.index >= self.notebook.last_code_index:
            return
        conditional = next(
            cell.within(ast.If, ast.Try, ast.For, ast.While, ast.IfExp, ast.BoolOp, ast.Match), None
        )
        severity = Severity.ERROR if conditional is None else Severity.WARNING
        self.report(cell, node, f"`{shown}` leaves the notebook before its last cell", severity=severity)
