"""Declared artifacts: they exist and are not empty, and a copy goes to the run directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.runtime.work import locate

ARTIFACTS_FOLDER = "artifacts"


def collect_artifacts(declared: Iterable[str], work: Path, run_dir: Path, *, may_link: bool) -> tuple[str, ...]:
    """Copy declared artifacts to ``<run_dir>/artifacts``.

    Args:
        declared: paths, relative ones to the work folder; a folder counts with all its files.
        work: the job's work folder.
        run_dir: the run directory.
        may_link: link instead of copying where possible; for a work folder that nobody writes to any more.

    Returns:
        What is wrong, one sentence each: missing or empty artifacts.

    Raises:
        DiskFull, FolderNotWritable: the copy could not be written.
    """
    problems: list[str] = []
    for path in dict.fromkeys(declared):
        source = locate(path, work)
        if not source.exists():
            problems.append(f"the declared artifact {path} is missing")
            continue
        if not has_content(source):
            problems.append(f"the declared artifact {path} is empty")
        _copy(source, run_dir / ARTIFACTS_FOLDER / _inner(path, source, work), may_link)
    return tuple(problems)


def has_content(path: Path) -> bool:
    """Whether a file has bytes, or a folder has a file that has."""
    if path.is_dir():
        return any(has_content(Path(folder, name)) for folder, _dirs, names in os.walk(path) for name in names)
    return path.exists() and path.stat().st_size > 0


def _inner(path: str, source: Path, work: Path) -> Path:
    full, base = Path(os.path.normpath(source)), Path(os.path.normpath(work))
    if base in full.parents:
        return full.relative_to(base)
    return Path(Path(path).name)


def _copy(source: Path, target: Path, may_link: bool) -> None:
    def copy(origin: str, destination: str) -> str:
        if may_link and not os.path.islink(origin):
            try:
                os.link(origin, destination)
                return destination
            except OSError:
                pass
        return str(shutil.copy2(origin, destination))

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, copy_function=copy, dirs_exist_ok=True)
        else:
            target.unlink(missing_ok=True)
            copy(str(source), str(target))
    except shutil.Error as error:
        raise explain_os_error(OSError(str(error)), target) from None
    except OSError as error:
        raise explain_os_error(error, target) from None
