"""CB401: packages installed while the notebook runs."""

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
    r"(?:^|[;&|(]\s*|\s)(?:sudo\s+)?(?:"
    r"(?:\S*python[\d.]*\s+-m\s+|\{sys\.executable\}\s+-m\s+|\$\S+\s+-m\s+)?pip[\d.]*\s+(?:-\S+\s+)*(?:install|uninstall)\b"
    r"|uv\s+(?:pip\s+(?:install|sync|uninstall)|add|sync)\b"
    r"|(?:conda|mamba|micromamba)\s+(?:env\s+)?(?:install|create|update|remove)\b"
    r"|(?:poetry|pdm|pixi)\s+(?:add|install)\b"
    r"|easy_install\b)"
)
_MAGICS = {
    "pip": r"(?:install|uninstall)\b",
    "conda": r"(?:install|create|update|remove)\b",
    "uv": r"(?:pip|add|sync)\b",
}
_MAGICS["mamba"] = _MAGICS["micromamba"] = _MAGICS["conda"]
_RUNNERS = {"os.system", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
            "subprocess.Popen", "IPython.get_ipython"}  # fmt: skip


class InstallInNotebook(Rule):
    """A cell installs, updates or removes packages.

    ## What it does

    Reports `%pip install`, `!pip install`, `conda`, `mamba`, `uv` and `poetry` installs in magics, shell
    escapes, `%%bash` cells and calls of `subprocess` or `os.system`.
    Each cell is reported once. Packages of the operating system are the matter of CB405.

    ## Why it matters on a cluster

    The job's environment is locked and may have no way to an index. An install while it runs either fails,
    or gives another environment than the one that was tested, and each of a hundred jobs downloads it
    again.

    ## Bad example

    ```python
    %pip install lightgbm  # <-- here
    # %%
    !pip install -q "numpy<2" && echo done  # <-- here
    # %%
    import subprocess
    import sys

    subprocess.check_call([sys.executable, "-m", "pip", "install", "lightgbm"])  # <-- here
    ```

    ## Good example

    ```python
    %pip list
    # %%
    !pip freeze
    # %%
    print("in a terminal: pip install lightgbm")
    ```

    ## Remedy

    Install the package in the kernel's environment from a terminal, remove the line and restart the kernel;
    the export then locks what the kernel has loaded.
    """

    code = "CB401"
    name = "install-in-notebook"
    words = frozenset({"install", "conda", "mamba", "uv", "poetry", "pdm", "pixi", "pip"})
    calls = frozenset({*_RUNNERS, "pip.*"})
    severity = Severity.ERROR

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell is reported once."""
        self._reported = False

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at magics and shell commands."""
        if magic.kind == "line":
            pattern = _MAGICS.get(magic.name)
            command = f"{magic.name} {magic.body}"
            if (pattern and re.match(pattern, magic.body)) or (
                magic.name in ("system", "sx") and _INSTALL.search(magic.body)
            ):
                self._report(magic.line, f"%{command}", cell)
            return
        for line, command in shell_lines(magic, cell):
            if _INSTALL.search(command) and not command.startswith("echo "):
                self._report(line, command, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at commands that Python starts."""
        if (cell.callee or "").startswith("pip.") and "main" in (cell.callee or ""):
            self._report(node, ast.unparse(node), cell)
            return
        words = [inner for argument in node.args[:1] for inner in descend(argument)]
        command = " ".join(
            word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)
        )
        if _INSTALL.search(command):
            self._report(node, command, cell)

    def _report(self, where: ast.AST | int, command: str, cell: CellContext) -> None:
        if not self._reported:
            message = f"`{command.split('#')[0].strip()[:60]}` changes the environment while the notebook runs"
            self._reported = self.report(cell, where, message)
