"""Journals of notebooks that were renamed: known again by the ids of the cells that ran."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.notebook import read_json

_CELL_ID = re.compile(rb'"cell_id":"([^"\\]+)"')


def belonging(notebook: Path, own: Path) -> list[Path]:
    """Journal files of a notebook: those in its own folder and those from under an older name, sorted.

    A journal is left out, or taken from another name's folder, only where the ids of its cells say whose it is: a
    copy of a notebook has the same ids, so that a journal stays with its own name while that notebook has them.

    Args:
        notebook: the notebook's file.
        own: the folder of its journals; those of other names lie beside it.
    """
    here = _whole(own)
    ids = cell_ids(notebook)
    if not ids:
        return here
    kept = [path for path in here if not _is_anothers(path, ids, notebook)]
    for folder in sorted(own.parent.iterdir()) if own.parent.is_dir() else ():
        owner = notebook.with_name(f"{folder.name}.ipynb")
        if folder == own or not folder.is_dir() or (kept and owner.exists()):
            continue
        owned = cell_ids(owner) if owner.exists() else set()
        kept += [path for path in _whole(folder) if (ran := ran_ids(path)) & ids and not ran & owned]
    return sorted(kept)


def renamed_notebook(notebook: Path, journal: Path) -> Path | None:
    """Where a notebook lies now that is no longer under its name, by the cells in its journal."""
    ran = ran_ids(journal)
    found = [path for path in _notebooks(notebook.parent) if ran & cell_ids(path)]
    return found[0] if len(found) == 1 else None


def cell_ids(notebook: Path) -> set[str]:
    """Ids in a notebook's file; empty where it cannot be read or has none."""
    try:
        data = read_json(notebook)
    except NotebookUnreadable:
        return set()
    cells = data.get("cells") if isinstance(data, dict) else None
    found = (cell.get("id") for cell in cells if isinstance(cell, dict)) if isinstance(cells, list) else ()
    return {one for one in found if isinstance(one, str)}


def ran_ids(journal: Path) -> set[str]:
    """Ids of the cells in a journal."""
    return {found.decode("utf-8", "replace") for found in _CELL_ID.findall(journal.read_bytes())}


def _whole(folder: Path) -> list[Path]:
    """Journals that hold at least one whole event."""
    return [path for path in sorted(folder.glob("*.jsonl")) if b"\n" in path.read_bytes()]


def _is_anothers(journal: Path, ids: set[str], notebook: Path) -> bool:
    ran = ran_ids(journal)
    if not ran or ran & ids:
        return False
    return any(ran & cell_ids(path) for path in _notebooks(notebook.parent) if path.name != notebook.name)


def _notebooks(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("*.ipynb"))
