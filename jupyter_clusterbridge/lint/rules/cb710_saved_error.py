"""CB710: a cell that failed in the saved session."""

from __future__ import annotations

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_EXPECTED = {"raises-exception", "raises_exception", "skip-execution"}
_STOPPED = "KeyboardInterrupt"


class SavedError(Rule):
    """The saved output of a cell is an error.

    ## What it does

    Reports cells whose saved output is an error; a cell that was stopped by hand as information. Cells
    tagged `raises-exception` are left alone.

    ## Why it matters on a cluster

    In a notebook one goes on with the next cell. A job ends at the first error.

    ## Bad example

    ```python
    # %% In [4] ValueError
    table = load(path)  # <-- here
    ```

    ## Good example

    ```python
    # %% In [4]
    table = load(path)
    ```

    ## Remedy

    Correct the cell, or tag it `raises-exception` when the error is what it shows.
    """

    code = "CB710"
    name = "saved-error"

    def end_cell(self, cell: CellContext) -> None:
        """Look at the cell's outputs."""
        if not cell.cell.outputs or _EXPECTED & set(cell.cell.tags):
            return
        error = next((output for output in cell.cell.outputs if output.get("output_type") == "error"), None)
        if error is None:
            return
        name = str(error.get("ename") or "an error")[:60]
        if name == _STOPPED:
            self.report(cell, 1, "this cell was stopped by hand in the saved session", severity=Severity.INFO)
        else:
            self.report(cell, 1, f"this cell ended with `{name}` in the saved session")
