"""CB405: packages of the operating system installed from a cell."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_INSTALL = re.compile(
    r"(?:^|[;&|(]\s*|\bsudo\s+(?:-\w+\s+)*)(?:apt|apt-get|aptitude|yum|dnf|apk|brew|zypper|choco|snap|dpkg)\s+"
    r"(?:-\S+\s+)*(?:install|update|upgrade|add|-i|build-dep|remove)\b"
)
_RUNNERS = frozenset({"os.system", "subprocess.run", "subprocess.call", "subprocess.check_call"})


class SystemPackage(Rule):
    """A cell installs packages of the operating system.

    ## What it does

    Reports `apt`, `apt-get`, `yum`, `dnf`, `apk`, `brew` and the like in shell escapes, `%%bash` cells and
    commands that Python starts; once for each cell.

    ## Why it matters on a cluster

    A job has no root rights and often no way to a package mirror, so that the command fails; where it works,
    it takes the newest version of that day, which no lock has seen.

    ## Bad example

    ```python
    !sudo apt-get install -y graphviz  # <-- here
    # %%
    %%bash
    apt-get update && apt-get install -y libgl1  # <-- here
    ```

    ## Good example

    ```python
    !dot -V
    # %%
    note = "the image has graphviz: apt-get install graphviz"
    ```

    ## Remedy

    Put the package into the job's image (the base image that the lock names) and remove the line.
    """

    code = "CB405"
    name = "system-package"
    severity = Severity.ERROR
    words = frozenset({"apt", "yum ", "dnf ", "apk ", "brew ", "zypper ", "choco ", "snap ", "dpkg "})
    calls = _RUNNERS

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell is reported once."""
        self._reported = False

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        for line, command in shell_lines(magic, cell):
            if _INSTALL.search(command):
                self._report(line, command, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at commands that Python starts."""
        texts = [
            inner.value for value in node.args[:1] for inner in descend(value) if isinstance(inner, ast.Constant)
        ]
        command = " ".join(text for text in texts if isinstance(text, str))
        if _INSTALL.search(command):
            self._report(node, command, cell)

    def _report(self, where: ast.AST | int, command: str, cell: CellContext) -> None:
        if not self._reported:
            shown = command.split("#")[0].strip()[:60]
            message = f"`{shown}` needs root rights and a mirror, which a job has not"
            self._reported = self.report(cell, where, message)
