"""Notebooks from source text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from jupyter_clusterbridge.lint.rule import CELL_BREAK
from jupyter_clusterbridge.model.findings import Finding
from jupyter_clusterbridge.model.notebook import Cell, Notebook

Lint = Callable[[str], tuple[Finding, ...]]


def split_cells(text: str) -> list[str]:
    """The parts of a text between lines ``# %%``."""
    return re.split(rf"^{CELL_BREAK}\n", text, flags=re.MULTILINE)


def notebook_of(text: str) -> Notebook:
    """A notebook with one code cell for each part of the text between lines ``# %%``."""
    parts = enumerate(split_cells(text))
    return Notebook(
        Path("notebook.ipynb"),
        tuple(Cell(f"cell-{index}", index, "code", part.rstrip("\n")) for index, part in parts),
    )
