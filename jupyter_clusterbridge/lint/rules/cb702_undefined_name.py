"""CB702: a name that the notebook never defines."""

from __future__ import annotations

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import NameRead
from jupyter_clusterbridge.model.findings import Confidence, Severity


class UndefinedName(Rule):
    """A cell reads a name that no cell defines, so that it lives on in the kernel only.

    ## What it does

    Reports names that are read and that no cell of the file binds at any place before, nor a magic or a
    builtin. Reads in functions are a warning, since the function may never be called. Nothing is reported
    after `%run`, `import *` and other means by which names come that no source shows.

    ## Why it matters on a cluster

    The name was defined by a cell that has been deleted or changed since; the kernel remembers it, the file
    does not. A job starts with an empty kernel and ends with a `NameError`.

    ## Bad example

    ```python
    rows = [1, 2, 3]
    # %%
    print(len(rows) * weight)  # <-- here
    ```

    ## Good example

    ```python
    rows = [1, 2, 3]
    weight = 2
    # %%
    print(len(rows) * weight)
    squares = [row * row for row in rows]
    ```

    ## Remedy

    Put the definition back into a cell above, then restart the kernel and run all cells.
    """

    code = "CB702"
    name = "undefined-name"
    severity = Severity.ERROR

    def end_notebook(self) -> None:
        """Look at the reads that nothing before had bound."""
        opaque = self.notebook.opaque_from
        reported: set[str] = set()
        for cell in self.notebook.cells:
            for read in sorted(cell.unbound, key=lambda read: read.deferred):
                defined = read.name in self.notebook.defined
                later = self.notebook.defined_after(read.name, cell.cell.index) is not None
                hidden = opaque is not None and (opaque <= cell.cell.index or read.deferred)
                if read.name == "dbutils":  # CB408 says where alone it exists
                    continue
                if later or hidden or read.name in reported or (read.deferred and defined):
                    continue
                reported.add(read.name)
                self._say(cell, read, self_defined=defined)

    def _say(self, cell: CellContext, read: NameRead, *, self_defined: bool) -> None:
        if read.deferred:
            message = f"a function reads `{read.name}`, which no cell defines"
            self.report(cell, read.line, message, severity=Severity.WARNING, confidence=Confidence.MEDIUM)
            return
        through = f" (through `{read.via}`)" if read.via else ""
        where = "before it is defined" if self_defined else "but no cell defines it"
        self.report(cell, read.line, f"`{read.name}` is read{through}, {where}")
