"""CB409: values that say on which machine and as which user the code runs."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_CALLS = frozenset(
    {"socket.gethostname", "socket.getfqdn", "platform.node", "getpass.getuser", "os.getlogin", "os.getuid",
     "pwd.getpwuid", "uuid.getnode"}
)  # fmt: skip
_SHOWN = {"builtins.print", "builtins.str", "logging.info", "IPython.display.display"}


class HostValue(Rule):
    """A value depends on the machine's name or on the user.

    ## What it does

    Reports `socket.gethostname`, `platform.node`, `getpass.getuser` and the like where the result is used,
    not only shown: `os.getlogin` as a warning, the others as information.

    ## Why it matters on a cluster

    A pod has another name in each run, and the job another user, which may have no name at all. Paths and
    choices made from these values differ from those of the notebook; `os.getlogin()` fails without a
    terminal.

    ## Bad example

    ```python
    import os
    import socket

    data = {"laptop": "data", "server": "/data"}[socket.gethostname()]  # <-- here
    folder = f"runs/{os.getlogin()}"  # <-- here
    ```

    ## Good example

    ```python
    import socket

    print(socket.gethostname())
    data = "data"
    ```

    ## Remedy

    Make what depends on the machine a parameter of the tagged cell.
    """

    code = "CB409"
    name = "host-value"
    severity = Severity.INFO
    words = frozenset(
        {"gethostname", "getfqdn", "platform", "getuser", "getlogin", "getuid", "getpwuid", "getnode"}
    )
    calls = _CALLS

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what is done with the value."""
        for parent in reversed(cell.parents):
            if isinstance(parent, ast.Call) and cell.resolve(parent.func) in _SHOWN - {"builtins.str"}:
                return
            if isinstance(parent, ast.stmt):
                if isinstance(parent, ast.Expr) and parent.value is node:
                    return
                break
        severity = Severity.WARNING if cell.callee == "os.getlogin" else Severity.INFO
        self.report(cell, node, f"`{cell.callee}()` gives something else in a job", severity=severity)
