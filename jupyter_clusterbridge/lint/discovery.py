"""Which files lint takes: those that are named, and in folders all notebooks and percent scripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.lint.config import config_for
from jupyter_clusterbridge.lint.sources.script import is_percent_script

_NEVER = {"__pycache__", "node_modules", "site-packages", "__pypackages__"}
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")


@dataclass
class Discovery:
    """The files found, and what was left out although it was named."""

    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def discover(paths: Iterable[Path], stdin_name: Path = Path("-")) -> Discovery:
    """Files in the order of the paths, each once; those of a folder in the order of their names.

    A path that does not exist is kept: reading it gives the finding.
    """
    found = Discovery()
    seen: set[Path] = set()
    for path in paths:
        folder = path.is_dir()
        files = list(_files_in(path, found.notes)) if folder else [path]
        name = stdin_name if path == Path("-") else path
        if not folder and config_for(name).excludes(name):
            found.notes.append(f"{name} is left out by 'exclude' in pyproject.toml")
            continue
        if not files:
            found.notes.append(f"{path} holds no notebook and no script with '# %%' cells")
        for file in files:
            key = Path(os.path.abspath(file))
            if key not in seen:
                seen.add(key)
                found.files.append(file)
    return found


def _files_in(root: Path, notes: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        notes.append(f"{error.filename} cannot be read ({error.strerror})")

    for folder, folders, names in os.walk(root, onerror=unreadable):
        here = Path(folder)
        config = config_for(here)
        taken = (name for name in folders if _is_taken(here / name) and not config.excludes(here / name))
        folders[:] = sorted(taken)
        for name in sorted(names):
            path = here / name
            if name.startswith(".") or not path.is_file() or config.excludes(path):
                continue
            if name.endswith(".ipynb") or (name.endswith(".py") and _has_cells(path)):
                yield path


def _is_taken(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.name in _NEVER:
        return False
    return not any((folder / mark).exists() for mark in _ENVIRONMENT_MARKS)


def _has_cells(path: Path) -> bool:
    try:
        return is_percent_script(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
