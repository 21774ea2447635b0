"""The notebook of a bundle: outputs stripped, ids kept, given parameter values injected."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import cast

from jupyter_clusterbridge.model.bundle import INJECTED_CELL_ID
from jupyter_clusterbridge.model.canonical import digest_text
from jupyter_clusterbridge.model.notebook import Cell, Notebook, notebook_from_json, read_json

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclasses.dataclass(frozen=True)
class JobNotebook:
    """A notebook as the job will run it."""

    document: dict[str, object]
    """JSON of the bundle's notebook."""
    notebook: Notebook
    """The same cells, with the outputs that were saved."""


def read_raw(path: Path) -> tuple[Notebook, dict[str, object]]:
    """Read a notebook together with its parsed JSON.

    Raises:
        NotebookUnreadable, NotebookTooOld, NotPython: see :func:`model.notebook.read_notebook`.
    """
    raw = read_json(path)
    return notebook_from_json(raw, path), cast("dict[str, object]", raw)


def job_notebook(notebook: Notebook, raw: dict[str, object], injected: str = "") -> JobNotebook:
    """Strip a notebook and put a cell of given values right after the tagged cell.

    The tagged cell itself stays as it is, so that its source has the digest that the journal knows. A cell that
    an earlier injection left is replaced. Cells are numbered as the job will number them.

    Args:
        notebook: the notebook.
        raw: its parsed file; titles and attachments come from it.
        injected: source of the injected cell; empty for none.
    """
    tagged = notebook.parameters_cell() if injected else None
    cells: list[tuple[Cell, dict[str, object]]] = []
    raw_cells = cast("list[dict[str, object]]", raw["cells"])
    for cell in notebook.cells:
        if tagged is not None and is_injected(cell):
            continue
        cells.append((cell, raw_cells[cell.index]))
        if cell is tagged:
            cells.append((Cell(INJECTED_CELL_ID, 0, "code", injected, tags=(INJECTED_CELL_ID,)), {}))
    numbered = _numbered(cells)
    document: dict[str, object] = {
        "cells": [_cell_json(cell, original) for cell, original in numbered],
        # the job's kernel is the locked environment's own, whatever this machine called the notebook's
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return JobNotebook(document, dataclasses.replace(notebook, cells=tuple(cell for cell, _ in numbered)))


def strip_document(path: Path) -> dict[str, object]:
    """The stripped JSON of another notebook that the job needs (``%run other.ipynb``)."""
    notebook, raw = read_raw(path)
    return job_notebook(notebook, raw).document


def code_digests(notebook: Notebook) -> list[str]:
    """Digests of the normalised sources of all code cells that are not empty, without injected values."""
    sources = (_normalised(cell.source) for cell in notebook.code_cells if not is_injected(cell))
    return [digest_text(source) for source in sources if source]


def is_injected(cell: Cell) -> bool:
    """Whether a cell came from an injection, ours or papermill's."""
    return cell.id == INJECTED_CELL_ID or INJECTED_CELL_ID in cell.tags


def _normalised(source: str) -> str:
    """A source without what no run can tell: carriage returns and white space at its end."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def _numbered(cells: list[tuple[Cell, dict[str, object]]]) -> list[tuple[Cell, dict[str, object]]]:
    """Number the cells and give each an id that is valid and its own."""
    seen: set[str] = set()
    out: list[tuple[Cell, dict[str, object]]] = []
    for index, (cell, original) in enumerate(cells):
        name = cell.id if _ID.fullmatch(cell.id) else f"cell-{index}-{digest_text(cell.id)[7:15]}"
        while name in seen:
            name = f"{name[:50]}-{index}"
        seen.add(name)
        out.append((dataclasses.replace(cell, id=name, index=index), original))
    return out


def _cell_json(cell: Cell, original: dict[str, object]) -> dict[str, object]:
    """A cell without outputs and counts; of its metadata only the tags and the name are no editor's marks."""
    metadata: dict[str, object] = {}
    if cell.tags:
        metadata["tags"] = list(cell.tags)
    found = original.get("metadata")
    if isinstance(found, dict) and isinstance(found.get("name"), str):
        metadata["name"] = found["name"]
    out: dict[str, object] = {
        "cell_type": cell.kind,
        "id": cell.id,
        "metadata": metadata,
        "source": cell.source.splitlines(keepends=True),
    }
    if cell.kind == "code":
        out.update(execution_count=None, outputs=[])
    elif isinstance(original.get("attachments"), dict):
        out["attachments"] = original["attachments"]
    return out
