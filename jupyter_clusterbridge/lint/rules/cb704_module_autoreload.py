"""CB704: modules that change while the kernel runs."""

from __future__ import annotations

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic


class Autoreload(Rule):
    """Imported modules are reloaded whenever their files change.

    ## What it does

    Reports, as information, `%autoreload` with a mode other than 0, once for each notebook.

    ## Why it matters on a cluster

    An early cell may have run with one version of a module and a late one with another. Objects made before
    keep parts of the old classes. A job has one version from its first cell to its last, so that it does not
    repeat such a session.

    ## Bad example

    ```python
    %load_ext autoreload
    %autoreload 2  # <-- here
    ```

    ## Good example

    ```python
    %load_ext autoreload
    %autoreload 0
    ```

    ## Remedy

    Before the run that counts, restart the kernel and run all cells; the record then has one version.
    """

    code = "CB704"
    name = "module-autoreload"
    severity = Severity.INFO
    words = frozenset({"autoreload"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._reported = False

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at the mode."""
        mode = magic.body.split("#")[0].strip().lower()
        if magic.kind == "line" and magic.name == "autoreload" and mode not in ("0", "off") and not self._reported:
            message = "code of imported modules may change between two cells"
            self._reported = self.report(cell, magic, message)
