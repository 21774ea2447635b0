"""Notebooks from source text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from jupyter_clusterbridge.lint.rule import CELL_BREAK
from jupyter_clusterbridge.model.findings import Finding
from jupyter_clusterbridge.model.notebook import Cell, Notebook

Lint = Callable[[str], tuple[Finding, ...]]


_BREAK = re.compile(rf"^{CELL_BREAK}(?: In \[(?P<count>[\d ]*)\](?: (?P<error>\w+))?)?\n", re.MULTILINE)
"""``# %%`` parts two cells; ``# %% In [3] ValueError`` also says how the cell that follows ran."""


def split_cells(text: str) -> list[str]:
    """The parts of a text between lines ``# %%``."""
    return [source for source, _, _ in _cells(text)]


def _cells(text: str) -> list[tuple[str, int | None, str | None]]:
    """Source, execution count and error of each cell."""
    first, *rest = _BREAK.split(text)
    found: list[tuple[str, int | None, str | None]] = [] if rest and not first else [(first, None, None)]
    for count, error, source in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        found.append((source, int(count) if (count or "").strip() else None, error))
    return found


def notebook_of(text: str) -> Notebook:
    """A notebook with one code cell for each part of the text between lines ``# %%``."""
    return Notebook(
        Path("notebook.ipynb"),
        tuple(
            Cell(f"cell-{index}", index, "code", source.rstrip("\n"), (), count, _outputs(error))
            for index, (source, count, error) in enumerate(_cells(text))
        ),
    )


def _outputs(error: str | None) -> tuple[dict[str, object], ...]:
    return () if error is None else ({"output_type": "error", "ename": error, "evalue": "", "traceback": []},)
