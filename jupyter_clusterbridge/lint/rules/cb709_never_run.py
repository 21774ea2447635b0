"""CB709: cells that the saved session has left out."""

from __future__ import annotations

from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_SKIPPED = {"skip-execution", "skip_execution", "skip"}


class NeverRun(Rule):
    """The saved file has a cell that was not run, above cells that were.

    ## What it does

    Reports, as information and once for each notebook, code cells without an execution count where a cell
    further down has one. Cells of comments alone, and those tagged to be skipped, are left alone.

    ## Why it matters on a cluster

    The outputs in the file were made without this cell. A job runs it too, and may reach other results, or
    an error that the author has never seen.

    ## Bad example

    ```python
    # %% In [1]
    rate = 0.1
    # %% In [ ]
    rate = rate / 2  # <-- here
    # %% In [2]
    print(rate)
    ```

    ## Good example

    ```python
    # %% In [1]
    rate = 0.1
    # %% In [ ]
    # rate = rate / 2
    # %% In [2]
    print(rate)
    # %% In [ ]
    print("below the last cell that was run")
    ```

    ## Remedy

    Delete the cell or make it a raw cell, or restart the kernel, run all cells and save the file.
    """

    code = "CB709"
    name = "never-run"
    severity = Severity.INFO
    confidence = Confidence.MEDIUM

    def end_notebook(self) -> None:
        """Look at the counts in file order."""
        ran = [cell.cell.index for cell in self.notebook.cells if cell.cell.execution_count is not None]
        if not ran:
            return
        left_out = [
            cell
            for cell in self.notebook.cells
            if cell.cell.execution_count is None
            and cell.cell.index < ran[-1]
            and not cell.cell.outputs
            and (cell.magics or (cell.tree is not None and cell.tree.body))
            and not _SKIPPED & set(cell.cell.tags)
        ]
        if left_out:
            more = f" ({len(left_out)} such cells)" if len(left_out) > 1 else ""
            self.report(left_out[0], 1, f"this cell was not run in the saved session{more}")
