"""What lint needs of a file, whatever its format."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_clusterbridge.lint.fixes import apply_edits
from jupyter_clusterbridge.model.findings import Edit
from jupyter_clusterbridge.model.notebook import Notebook

Edits = Mapping[int, Sequence[Edit]]
"""Edits of each cell, by the cell's index."""


class SourceFile(abc.ABC):
    """A file that holds cells. It is immutable; an edit gives another one."""

    def __init__(self, content: bytes, notebook: Notebook) -> None:
        self.content = content
        self.notebook = notebook

    @property
    def path(self) -> Path:
        """Where the file lies; the name that was given for standard input."""
        return self.notebook.path

    @abc.abstractmethod
    def file_line(self, cell_index: int, line: int) -> int:
        """The line of the file, from 1, in which a line of a cell stands."""

    @abc.abstractmethod
    def _edited(self, edits: Edits) -> SourceFile:
        """The file with edits made and every other byte as it was."""

    def edited(self, edits: Edits) -> SourceFile:
        """The file with edits made and every other byte as it was.

        Raises:
            RuntimeError: what came out is not what the edits say; nothing has been written then.
        """
        made = self._edited(edits)
        for before, after in zip(self.notebook.cells, made.notebook.cells, strict=True):
            if after.source != apply_edits(before.source, edits.get(before.index, ())):
                raise RuntimeError(f"{self.path}: cell {before.index} is not as its edits say")
        return made
