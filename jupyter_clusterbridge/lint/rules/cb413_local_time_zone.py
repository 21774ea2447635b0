"""CB413: times that depend on the machine's time zone."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_STAMP = frozenset({"datetime.datetime.fromtimestamp", "datetime.date.fromtimestamp"})
_LOCAL = frozenset({"time.localtime", "time.mktime"})
_TIME_WORDS = ("mtime", "ctime", "time.time", "now")


class LocalTimeZone(Rule):
    """A time stamp is turned into a date in the machine's own time zone.

    ## What it does

    Reports `datetime.fromtimestamp` without `tz`, `time.localtime(x)` and `time.mktime(x)` on values that
    are data: not the present time, and not the time of a file.

    ## Why it matters on a cluster

    Containers run in UTC. Hours and, around midnight, dates are others than on the author's machine, and so
    are all features made from them.

    ## Bad example

    ```python
    from datetime import datetime

    stamps = [1700000000, 1700003600]
    hours = [datetime.fromtimestamp(stamp).hour for stamp in stamps]  # <-- here
    ```

    ## Good example

    ```python
    import time
    from datetime import datetime, timezone

    stamps = [1700000000, 1700003600]
    hours = [datetime.fromtimestamp(stamp, tz=timezone.utc).hour for stamp in stamps]
    started = datetime.fromtimestamp(time.time())
    ```

    ## Remedy

    Name the time zone: `datetime.fromtimestamp(stamp, tz=timezone.utc)`.
    """

    code = "CB413"
    name = "local-time-zone"
    confidence = Confidence.MEDIUM
    words = frozenset({"fromtimestamp", "localtime", "mktime"})
    calls = _STAMP | _LOCAL

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what is turned into a date."""
        if not node.args or has_star(node):
            return
        zoned = cell.callee == "datetime.datetime.fromtimestamp" and argument(node, "tz", 1) is not None
        text = ast.unparse(node.args[0])
        if zoned or any(word in text for word in _TIME_WORDS) or _shown(cell):
            return
        self.report(cell, node, f"`{(cell.callee or '').rpartition('.')[2]}` depends on the machine's time zone")


def _shown(cell: CellContext) -> bool:
    for parent in reversed(cell.parents):
        if isinstance(parent, ast.Call) and cell.resolve(parent.func) == "builtins.print":
            return True
        if isinstance(parent, ast.stmt):
            return isinstance(parent, ast.Expr) and not isinstance(parent.value, ast.Call)
    return False
