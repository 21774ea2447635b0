"""CB514: waiting and trying again without a limit."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend

_BROAD = {"builtins.Exception", "builtins.BaseException", "builtins.OSError", "builtins.ConnectionError",
          "builtins.TimeoutError", "requests.exceptions.RequestException", "requests.RequestException",
          "requests.exceptions.ConnectionError"}  # fmt: skip
_ASKS = {"os.path.exists", "os.path.isfile", "os.path.isdir"}


class EndlessRetry(Rule):
    """A loop waits or tries again for ever.

    ## What it does

    Reports `while True` around a `try` whose broad handler neither leaves the loop nor counts, and loops
    that sleep until a file exists without any limit.

    ## Why it matters on a cluster

    What never comes keeps the job waiting until its time limit, with its GPUs. The error that would say why
    is swallowed each time.

    ## Bad example

    ```python
    import os
    import time

    import requests

    while True:  # <-- here
        try:
            rows = requests.get("https://example.org/rows", timeout=10).json()
            break
        except Exception:
            time.sleep(5)
    while not os.path.exists("done.txt"):  # <-- here
        time.sleep(1)
    ```

    ## Good example

    ```python
    import time

    import requests

    for attempt in range(5):
        try:
            rows = requests.get("https://example.org/rows", timeout=10).json()
            break
        except requests.ConnectionError:
            time.sleep(2**attempt)
    else:
        raise RuntimeError("no answer after five attempts")
    ```

    ## Remedy

    Count the attempts, wait longer each time, and raise the last error when they are used up.
    """

    code = "CB514"
    name = "endless-retry"
    words = frozenset({"while"})

    def visit_While(self, node: ast.AST, cell: CellContext) -> None:
        """Look at loops that wait."""
        assert isinstance(node, ast.While)
        if isinstance(node.test, ast.Constant) and node.test.value:
            if len(node.body) == 1 and isinstance(node.body[0], ast.Try) and self._retries(node.body[0], cell):
                self.report(cell, node, "the loop tries again for ever and swallows each error")
        elif _waits_for_a_file(node, cell):
            self.report(cell, node, "the loop waits for a file without a limit")

    def _retries(self, attempt: ast.Try, cell: CellContext) -> bool:
        succeeds = [*attempt.body, *attempt.orelse]
        if not any(isinstance(part, (ast.Break, ast.Return)) for part in succeeds):
            return False
        handlers = [handler for handler in attempt.handlers if _is_broad(handler, cell)]
        return bool(handlers) and not any(_leaves(handler) for handler in handlers)


def _is_broad(handler: ast.ExceptHandler, cell: CellContext) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or cell.resolve(kind) in _BROAD for kind in kinds)


def _leaves(handler: ast.ExceptHandler) -> bool:
    """Whether a handler leaves, counts, or asks a question that may lead to leaving."""
    kinds = (ast.Raise, ast.Break, ast.Return, ast.AugAssign, ast.If, ast.Assign)
    return any(isinstance(inner, kinds) for part in handler.body for inner in descend(part))


def _waits_for_a_file(node: ast.While, cell: CellContext) -> bool:
    if not (isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)):
        return False
    asked = node.test.operand
    if not isinstance(asked, ast.Call):
        return False
    is_path = isinstance(asked.func, ast.Attribute) and asked.func.attr in ("exists", "is_file") and not asked.args
    if cell.resolve(asked.func) not in _ASKS and not is_path:
        return False
    sleeps = all(isinstance(part, (ast.Expr, ast.Pass)) for part in node.body)
    return sleeps and "sleep" in " ".join(ast.unparse(part) for part in node.body)
