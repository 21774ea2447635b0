"""CB410: services that run on the author's machine."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_ADDRESS = re.compile(
    r"^(?:(?:https?|wss?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|mongodb|redis|amqp|kafka|spark|bolt|grpc)://"
    r"(?:[^@/\s]*@)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|host\.docker\.internal)(?:[:/]|$)"
    r"|(?:localhost|127\.0\.0\.1):\d{2,5}(?:/|$))"
)
_STARTS = re.compile(
    r"Popen\(|nohup|&\s*$|--bg\b|system_raw|\bserve\b|docker run|create_subprocess"
    r"|LocalCluster|\.launch\(|\.listen\(|HTTPServer"
    r"|run_in_thread"
    r"|Thread\(|\bdaemon\b|start_server|mlflow (?:ui|server)|docker[ -]compose|uvicorn|init_process_group",
    re.MULTILINE,
)


class LocalService(Rule):
    """An address names a service on this machine.

    ## What it does

    Reports strings that are an address on `localhost`, `127.0.0.1` or `host.docker.internal` where a call or
    an assignment takes them, unless the notebook itself starts something in the background.

    ## Why it matters on a cluster

    In the job's container nothing listens there: the connection is refused, or, with a tracking server,
    results go nowhere.

    ## Bad example

    ```python
    import mlflow

    mlflow.set_tracking_uri("http://localhost:5000")  # <-- here
    ```

    ## Good example

    ```python
    import os

    import mlflow

    mlflow.set_tracking_uri(os.environ.get("MLFLOW_TRACKING_URI", "file:mlruns"))
    print("open http://localhost:6006 to see the curves")
    ```

    ## Remedy

    Take the address from an environment variable or a parameter, and give the job one that the cluster
    reaches.
    """

    code = "CB410"
    name = "local-service"
    confidence = Confidence.MEDIUM
    words = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._starts = _STARTS.search(notebook.source) is not None
        self._seen: set[str] = set()

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at strings that are addresses."""
        assert isinstance(node, ast.Constant)
        value = node.value
        if self._starts or not isinstance(value, str) or not _ADDRESS.match(value) or value in self._seen:
            return
        parent = cell.parents[-1] if cell.parents else None
        if isinstance(parent, ast.JoinedStr):
            if parent.values[0] is not node:
                return
            parent = cell.parents[-2] if len(cell.parents) > 1 else None
        if isinstance(parent, ast.Call):
            called = cell.resolve(parent.func) or ""
            # a process group on one machine is a service of the job itself
            if called in ("builtins.print", "os.environ.get", "os.getenv") or "distributed" in called:
                return
        elif not isinstance(parent, (ast.Assign, ast.keyword, ast.Dict)):
            return
        self._seen.add(value)
        self.report(cell, node, f"`{_without_password(value)}` is a service on this machine")


def _without_password(address: str) -> str:
    return re.sub(r"//[^@/]*@", "//", address)[:60]
