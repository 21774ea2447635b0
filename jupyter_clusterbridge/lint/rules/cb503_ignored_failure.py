"""CB503: a command whose failure nobody sees."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_HIDDEN = re.compile(r"\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|:|exit 0)\s*$")
_STRICT = re.compile(r"^\s*set\s+-\S*e|^\s*set\s+-o\s+errexit", re.MULTILINE)
_SUBPROCESS = {"subprocess.run", "subprocess.call", "os.system"}


class IgnoredFailure(Rule):
    """A shell command may fail and the notebook goes on.

    ## What it does

    Reports shell escapes that hide their exit code (`|| true`, `; true`) or whose output is captured (`x =
    !command` loses the code), `%%bash` cells of several commands without `set -e`, and `os.system`,
    `subprocess.call` or `subprocess.run` without `check=True` whose result is thrown away.

    ## Why it matters on a cluster

    A person sees the red line in the output and runs the cell again. A job trains on, with the file of
    yesterday or with none.

    ## Bad example

    ```python
    !unzip -o data.zip || true  # <-- here
    # %%
    import subprocess

    subprocess.run(["unzip", "-o", "data.zip"])  # <-- here
    ```

    ## Good example

    ```python
    !unzip -o data.zip
    # %%
    import subprocess

    subprocess.run(["unzip", "-o", "data.zip"], check=True)
    done = subprocess.run(["test", "-e", "data.zip"])
    ```

    ## Remedy

    Let the failure through: drop `|| true`, begin a `%%bash` cell with `set -e`, pass `check=True`.
    """

    code = "CB503"
    name = "ignored-failure"
    calls = frozenset(_SUBPROCESS)
    severity = Severity.INFO

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell is reported once for the functions that it calls."""
        self._reported = False

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell escapes and shell cells."""
        if magic.kind == "shell":
            if _HIDDEN.search(magic.body.split(" #")[0]):
                self.report(cell, magic, "the shell command hides its exit code")
            elif magic.target is not None:
                self.report(cell, magic, "`name = !command` does not notice when the command fails")
        elif magic.kind == "cell" and magic.name in ("bash", "sh"):
            self._shell_cell(magic, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at commands that Python starts."""
        if (
            self._reported
            or cell.callee not in _SUBPROCESS
            or has_star(node)
            or argument(node, "check") is not None
        ):
            return
        if cell.parents and isinstance(cell.parents[-1], ast.Expr):
            self._reported = self.report(cell, node, f"the exit code of `{cell.callee}` is thrown away")

    def _shell_cell(self, magic: Magic, cell: CellContext) -> None:
        body = cell.cell.source.split("\n")[magic.line :]
        commands = [line for line in body if line.strip() and not line.lstrip().startswith("#")]
        if "\\" in "".join(commands) or "-e" in magic.body.split():
            return
        if len(commands) > 1 and not _STRICT.search("\n".join(body)):
            self.report(cell, magic, f"`%%{magic.name}` without `set -e` only notices when its last command fails")
