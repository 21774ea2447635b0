"""Reading a file in the format that it has."""

from __future__ import annotations

from pathlib import Path

from jupyter_clusterbridge.lint.sources.base import SourceFile
from jupyter_clusterbridge.lint.sources.notebook_file import NotebookFile
from jupyter_clusterbridge.lint.sources.script import ScriptFile
from jupyter_clusterbridge.model.notebook import read_content


def read_source(path: Path) -> SourceFile:
    """Read a notebook or a script from the disk.

    Raises:
        NotebookUnreadable, NotebookTooOld, NotPython: what :func:`read_notebook` raises.
    """
    return source_of(read_content(path), path)


def source_of(content: bytes, path: Path) -> SourceFile:
    """A notebook or a script that has been read: by the name's end, or else by what it holds."""
    if path.suffix == ".py" or (path.suffix != ".ipynb" and content.lstrip()[:1] not in (b"{", b"[", b"")):
        return ScriptFile(content, path)
    return NotebookFile(content, path)
