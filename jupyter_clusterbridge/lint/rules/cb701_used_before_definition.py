"""CB701: a name that only a later cell defines."""

from __future__ import annotations

from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class UsedBeforeDefinition(Rule):
    """A cell reads a name that only a cell further down defines.

    ## What it does

    Follows names through the cells in file order, also into functions of the notebook that a cell calls. It
    reports a read at a point where no cell above has bound the name and one below does.

    ## Why it matters on a cluster

    The notebook worked because its cells were run in another order than they stand in. A job runs them from
    top to bottom and ends with a `NameError`.

    ## Bad example

    ```python
    print(learning_rate)  # <-- here
    # %%
    learning_rate = 0.1
    ```

    ## Good example

    ```python
    def show():
        print(learning_rate)
    # %%
    learning_rate = 0.1
    # %%
    show()
    ```

    ## Remedy

    Move the defining cell above the cell that uses it, then restart the kernel and run all cells.
    """

    code = "CB701"
    name = "used-before-definition"
    severity = Severity.ERROR

    def end_notebook(self) -> None:
        """Look at the reads that nothing before had bound."""
        reported: set[str] = set()
        for cell in self.notebook.cells:
            for read in cell.unbound:
                opaque = self.notebook.opaque_from
                definition = self.notebook.defined_after(read.name, cell.cell.index)
                if read.deferred or definition is None or read.name in reported:
                    continue
                if opaque is not None and opaque <= cell.cell.index:
                    continue
                through = f" (through `{read.via}`)" if read.via else ""
                message = f"`{read.name}` is read{through} before cell {definition} defines it"
                if self.report(cell, read.line, message):
                    reported.add(read.name)
