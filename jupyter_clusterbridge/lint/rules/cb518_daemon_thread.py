"""CB518: threads that the end of the notebook cuts off."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_JOINS = re.compile(r"(?<!path)(?<![\"'])\.join\(\s*(?:timeout\s*=\s*)?[\d.]*\s*\)|\.is_alive\(")


class DaemonThread(Rule):
    """A daemon thread or process works beside the cells, and nothing waits for it.

    ## What it does

    Reports, as information, threads and processes with `daemon=True` in a notebook without a `join()`.

    ## Why it matters on a cluster

    A notebook's kernel lives on, so that the thread gets done at some time. A job ends after its last cell,
    and a daemon is cut off in the middle of what it writes; errors in it stop nothing.

    ## Bad example

    ```python
    import threading

    worker = threading.Thread(target=print, daemon=True)  # <-- here
    worker.start()
    ```

    ## Good example

    ```python
    import threading

    worker = threading.Thread(target=print)
    worker.start()
    worker.join()
    ```

    ## Remedy

    Wait for it with `join()` before the last cell ends, and pass its errors on (`concurrent.futures` does).
    """

    code = "CB518"
    name = "daemon-thread"
    severity = Severity.INFO
    words = frozenset({"daemon"})
    calls = frozenset({"threading.Thread", "multiprocessing.Process", "torch.multiprocessing.Process"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._joins = _JOINS.search(notebook.source) is not None

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at threads."""
        if not self._joins and is_constant(argument(node, "daemon"), True, cell):
            self.report(cell, node, "a daemon is cut off when the last cell ends")
