"""CB316: the file that was written last."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, method
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.runtime.source import Magic

_TIMES = {"os.path.getmtime", "os.path.getctime", "os.path.getatime"}
_FIELDS = {"st_mtime", "st_ctime", "st_atime", "st_mtime_ns", "st_ctime_ns", "getmtime", "getctime", "getatime",
           "last_modified"}  # fmt: skip
_FUNCTIONS = frozenset({"builtins.max", "builtins.min", "builtins.sorted"})
_SHELL = re.compile(r"\bls\s+-\w*t\w*\b[^|]*\|\s*(?:head|tail)\b")


class NewestFile(Rule):
    """A file is chosen by the time at which it was written.

    ## What it does

    Reports `max`, `min`, `sorted` and `sort` with a key of `os.path.getmtime`, `st_mtime` or, for
    objects in a bucket, `LastModified`, and `ls -t | head`.

    ## Why it matters on a cluster

    Copying a file, unpacking an archive or building an image gives it a new time. On the node all files may
    be equally old, or the newest may be that of another run: the job loads another checkpoint or other data.

    ## Bad example

    ```python
    import glob
    import os

    newest = max(glob.glob("checkpoints/*.pt"), key=os.path.getmtime)  # <-- here
    ```

    ## Good example

    ```python
    import glob

    newest = max(glob.glob("checkpoints/step-*.pt"), key=lambda path: int(path.split("-")[-1][:-3]))
    ```

    ## Remedy

    Name the file in a parameter, or choose by a number in its name.
    """

    code = "CB316"
    name = "newest-file"
    words = frozenset({"mtime", "ctime", "getatime", "ls -", "LastModified", "last_modified"})
    calls = _FUNCTIONS
    methods = frozenset({"sort"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at choices by a key."""
        key = argument(node, "key")
        if key is None or not (cell.callee in _FUNCTIONS or method(node) == "sort"):
            return
        if cell.resolve(key) in _TIMES or (isinstance(key, ast.Lambda) and _asks_time(key)):
            self.report(cell, node, "the time at which a file was written decides which one is used")

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        for line, command in shell_lines(magic, cell):
            if _SHELL.search(command) and (magic.kind == "cell" or magic.target is not None or "$(" in command):
                self.report(cell, line, "`ls -t` chooses a file by the time at which it was written")


def _asks_time(key: ast.Lambda) -> bool:
    for node in descend(key.body):
        if isinstance(node, ast.Attribute) and node.attr in _FIELDS:
            return True
        # objects of a bucket: `entry["LastModified"]`
        if isinstance(node, ast.Constant) and node.value == "LastModified":
            return True
    return False
