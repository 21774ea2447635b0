"""Reading a notebook file with the standard library alone, fast enough for lint over many files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.errors import NotebookTooOld, NotebookUnreadable, NotPython

PARAMETERS_TAG = "parameters"
MAY_RAISE_TAG = "raises-exception"
"""Tag of a cell after which a run goes on although it fails."""
_PYTHON_NAMES = {"python", "python3", "ipython", "ipython3"}


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook."""

    id: str
    """The cell's id; for files before nbformat 4.5 a stable stand-in made from place and source."""
    index: int
    """Position among all cells of the file, from 0."""
    kind: str
    """``code``, ``markdown`` or ``raw``."""
    source: str
    tags: tuple[str, ...] = ()
    execution_count: int | None = None
    outputs: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A Python notebook, read from a file."""

    path: Path
    cells: tuple[Cell, ...]
    kernel_name: str | None = None
    language: str = "python"

    @property
    def code_cells(self) -> tuple[Cell, ...]:
        """The code cells in file order."""
        return tuple(cell for cell in self.cells if cell.kind == "code")

    def parameters_cell(self) -> Cell | None:
        """The first code cell tagged ``parameters``, as papermill and others use the tag."""
        return next((cell for cell in self.code_cells if PARAMETERS_TAG in cell.tags), None)


def read_notebook(path: Path) -> Notebook:
    """Read a notebook file.

    Raises:
        NotebookUnreadable: the file is missing, unreadable, no JSON or no notebook.
        NotebookTooOld: nbformat 3 or older.
        NotPython: the notebook's language is not Python.
    """
    return notebook_from_json(read_json(path), path)


def read_json(path: Path) -> object:
    """The parsed content of a notebook file, whatever it is.

    Raises:
        NotebookUnreadable: the file is missing, no regular file, unreadable or no JSON.
    """
    return parse_json(read_content(path), path)


def read_content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        NotebookUnreadable: the file is missing, no regular file or unreadable.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would let us wait for ever
            raise NotebookUnreadable(f"{path}: is no regular file", hint="Name a notebook file.")
        return path.read_bytes()
    except FileNotFoundError:
        raise NotebookUnreadable(f"{path}: there is no such file", hint="Check the path.") from None
    except IsADirectoryError:
        raise NotebookUnreadable(f"{path}: is a folder", hint="Name a notebook file.") from None
    except OSError as error:
        raise NotebookUnreadable(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:  # a null byte in the path
        raise NotebookUnreadable(f"{path!s}: cannot be read ({error})") from None


def parse_json(content: bytes, path: Path) -> object:
    """The parsed content of a notebook file, whatever it is; raises NotebookUnreadable where it is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotebookUnreadable(f"{path}: is not valid JSON ({error})") from None


def notebook_from_json(data: object, path: Path) -> Notebook:
    """Build a notebook from parsed JSON; raises what :func:`read_notebook` raises."""
    if not isinstance(data, dict) or not isinstance(data.get("nbformat"), int):
        raise NotebookUnreadable(f"{path}: is JSON, but not a notebook (no 'nbformat' number)")
    if data["nbformat"] < 4:
        raise NotebookTooOld(f"{path}: is in notebook format {data['nbformat']}; format 4 is needed")
    if data["nbformat"] > 4:
        raise NotebookUnreadable(
            f"{path}: is in notebook format {data['nbformat']}, newer than this version knows (4)"
        )
    cells = data.get("cells")
    if not isinstance(cells, list):
        raise NotebookUnreadable(f"{path}: has no list of cells")
    metadata = data.get("metadata")
    kernelspec, language = _kernel(metadata if isinstance(metadata, dict) else {})
    if language.lower() not in _PYTHON_NAMES:
        raise NotPython(f"{path}: is written in {language}, not in Python")
    return Notebook(
        path=path,
        cells=tuple(_cell(cell, index, path) for index, cell in enumerate(cells)),
        kernel_name=kernelspec,
        language="python",
    )


def _kernel(metadata: dict[str, object]) -> tuple[str | None, str]:
    spec = metadata.get("kernelspec")
    info = metadata.get("language_info")
    name = spec.get("name") if isinstance(spec, dict) else None
    # JupyterLab leaves an empty language in a file that is saved before its kernel has answered
    language = (info.get("name") if isinstance(info, dict) else None) or None
    if language is None and isinstance(spec, dict):
        language = spec.get("language") or None
    return (name if isinstance(name, str) else None), (language if isinstance(language, str) else "python")


def _cell(cell: object, index: int, path: Path) -> Cell:
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        raise NotebookUnreadable(f"{path}: cell {index} has no cell_type")
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(str(part) for part in source)
    if not isinstance(source, str):
        raise NotebookUnreadable(f"{path}: cell {index} has no source text")
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    count = cell.get("execution_count")
    outputs = cell.get("outputs")
    cell_id = cell.get("id")
    return Cell(
        id=cell_id if isinstance(cell_id, str) and cell_id else stand_in_id(index, source),
        index=index,
        kind=cell["cell_type"],
        source=source,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        execution_count=count if isinstance(count, int) else None,
        outputs=tuple(o for o in outputs if isinstance(o, dict)) if isinstance(outputs, list) else (),
    )


def stand_in_id(index: int, source: str) -> str:
    """A stable id for a cell whose file gives none, made from place and source."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"cell-{index}-{digest}"
