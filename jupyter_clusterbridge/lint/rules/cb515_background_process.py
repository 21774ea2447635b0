"""CB515: processes that a cell leaves running."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.runtime.source import Magic

_BACKGROUND = re.compile(r"(?<![&>|\\])&\s*$|\bnohup\b|\bsetsid\b|\bdisown\b|\bscreen\s+-d|\btmux\s+new\S*\s+-d")
_WAITS = re.compile(r"\.(?:wait|communicate|terminate|kill|poll)\(|with subprocess\.Popen|\bstdout\.read")


class BackgroundProcess(Rule):
    """A cell starts a process in the background and goes on.

    ## What it does

    Reports shell escapes that end in `&` or use `nohup`, `%%bash --bg`, and `subprocess.Popen` in a notebook
    that never waits for, asks or ends such a process.

    ## Why it matters on a cluster

    Nobody sees whether it started or failed: the cells go on either way. It takes CPUs and memory from the
    job's share, and it is cut off when the last cell ends, with half a file written.

    ## Bad example

    ```python
    !python download.py &  # <-- here
    # %%
    import subprocess

    server = subprocess.Popen(["mlflow", "server"])  # <-- here
    ```

    ## Good example

    ```python
    !python download.py && echo done
    # %%
    import subprocess

    subprocess.run(["python", "download.py"], check=True)
    ```

    ## Remedy

    Run it in the foreground, or make it a service of its own beside the job; wait for it before its results
    are used.
    """

    code = "CB515"
    name = "background-process"
    words = frozenset({"&", "nohup", "setsid", "disown", "screen ", "tmux", "--bg", "Popen"})
    calls = frozenset({"subprocess.Popen"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._waits = _WAITS.search(notebook.source) is not None

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        if magic.kind == "cell" and "--bg" in magic.body.split():
            self.report(cell, magic, f"`%%{magic.name} --bg` goes on before the commands are done")
            return
        commands = shell_lines(magic, cell)
        if magic.kind == "cell" and any(re.match(r"wait\b", command) for _, command in commands):
            return
        for line, command in commands:
            if _BACKGROUND.search(command.split(" #")[0].rstrip()):
                self.report(cell, line, f"`{command[:60]}` goes on in the background, unseen")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at ``Popen``."""
        if not self._waits and cell.function is None:
            self.report(cell, node, "nothing in the notebook waits for this process")
