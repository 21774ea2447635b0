"""What no job can run: cells that are no Python at all."""

from __future__ import annotations

from jupyter_clusterbridge.model.errors import NotExportable
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.runtime.source import parse_cell


def check_unattended(notebook: Notebook) -> None:
    """Refuse a notebook that ends in the same place in every job.

    Only a syntax error is as certain as that. A cell that installs packages or waits for input may stand behind
    a condition that is false in the job; lint says so, and the export goes on.

    Raises:
        NotExportable: a cell cannot be parsed, or there is no code at all.
    """
    if not any(cell.source.strip() for cell in notebook.code_cells):
        raise NotExportable(f"{notebook.path.name}: has no code to run", hint="Export a notebook with code cells.")
    for cell in notebook.code_cells:
        parsed = parse_cell(cell.source)
        if parsed.tree is None:
            line = f", line {parsed.error_line}" if parsed.error_line is not None else ""
            raise NotExportable(
                f"{notebook.path.name}: cell {cell.index}{line} is not valid Python ({parsed.error})"
            )
