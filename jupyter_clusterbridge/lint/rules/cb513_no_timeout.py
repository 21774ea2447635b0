"""CB513: network calls that may wait for ever."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_POSITION = {"urllib.request.urlopen": 2, "socket.create_connection": 1}
_REQUESTS = frozenset(f"requests.{verb}" for verb in ("get", "post", "put", "patch", "delete", "head", "request"))


class NoTimeout(Rule):
    """A network call has no time limit.

    ## What it does

    Reports, as information, calls of `requests`, `urllib.request.urlopen` and `socket.create_connection`
    without `timeout`, once for each function.

    ## Why it matters on a cluster

    These wait for ever by default. When a server accepts the connection and does not answer, the job keeps
    its GPUs and does nothing until its time limit; a person would have pressed the stop button.

    ## Bad example

    ```python
    import requests

    answer = requests.get("https://example.org/rows.json")  # <-- here
    ```

    ## Good example

    ```python
    import requests

    answer = requests.get("https://example.org/rows.json", timeout=60)
    ```

    ## Remedy

    Pass `timeout=` in seconds.
    """

    code = "CB513"
    name = "no-timeout"
    severity = Severity.INFO
    words = frozenset({"requests", "urlopen", "create_connection"})
    calls = _REQUESTS | frozenset(_POSITION)

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[str] = set()
        self._default = "setdefaulttimeout" in notebook.source

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls."""
        called = cell.callee or ""
        if has_star(node) or called in self._seen or (self._default and called in _POSITION):
            return
        if argument(node, "timeout", _POSITION.get(called)) is not None:
            return
        if self.report(cell, node, f"`{called}` without `timeout` may wait for ever"):
            self._seen.add(called)
