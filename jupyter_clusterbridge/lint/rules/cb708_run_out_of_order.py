"""CB708: a file saved after its cells ran in another order."""

from __future__ import annotations

from itertools import pairwise

from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class RunOutOfOrder(Rule):
    """The saved file shows that its cells ran in another order than they stand in.

    ## What it does

    Reports, as information and once for each notebook, a cell whose execution count is lower than that of a
    cell above it.

    ## Why it matters on a cluster

    The outputs in the file are those of a session that a run from top to bottom does not repeat. What the
    job is compared with may never come out of this source.

    ## Bad example

    ```python
    # %% In [7]
    rate = 0.1
    # %% In [3]
    print(rate)  # <-- here
    ```

    ## Good example

    ```python
    # %% In [1]
    rate = 0.1
    # %% In [2]
    print(rate)
    ```

    ## Remedy

    Restart the kernel, run all cells and save the file.
    """

    code = "CB708"
    name = "run-out-of-order"
    severity = Severity.INFO

    def end_notebook(self) -> None:
        """Look at the counts in file order."""
        counted = [
            (cell, cell.cell.execution_count)
            for cell in self.notebook.cells
            if cell.cell.execution_count and cell.cell.source.strip()
        ]
        lower = [
            (cell, count, before, above)
            for (above, before), (cell, count) in pairwise(counted)
            if (count or 0) < (before or 0)
        ]
        if not lower:
            return
        cell, count, before, above = lower[0]
        more = f" ({len(lower) - 1} more such places)" if len(lower) > 1 else ""
        self.report(
            cell, 1, f"this cell ran as [{count}], but cell {above.cell.index} above it as [{before}]{more}"
        )
