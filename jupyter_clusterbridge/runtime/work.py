"""The job's work folder: the bundle's project, its data in place and checked before the kernel starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from jupyter_clusterbridge.model.bundle import PROJECT_FOLDER, BundleManifest
from jupyter_clusterbridge.model.canonical import digest_file, short
from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.model.record import FileRecord
from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.exits import End, JobEnded


def prepare_work(
    bundle: Path, manifest: BundleManifest, run_dir: Path, data_dir: Path | None, log: Callable[[str], None]
) -> Path:
    """Make the work folder of a bundle's job and check every declared data file.

    Args:
        bundle: the bundle's folder.
        manifest: its manifest.
        run_dir: the run directory; the work folder is ``work`` in it.
        data_dir: where to find declared data that the bundle does not hold, by the same relative paths.
        log: takes one line of text.

    Raises:
        JobEnded: a data file is missing or is not the declared one.
        DiskFull, FolderNotWritable: the file system refuses.
    """
    work = run_dir / "work"
    try:
        work.mkdir(parents=True, exist_ok=True)
        if (bundle / PROJECT_FOLDER).is_dir():
            shutil.copytree(bundle / PROJECT_FOLDER, work, dirs_exist_ok=True)
        if data_dir is not None:
            for entry in manifest.data:
                _link(entry, work, run_dir, data_dir, log)
    except shutil.Error as error:
        raise explain_os_error(OSError(str(error)), work) from None
    except OSError as error:
        raise explain_os_error(error, work) from None
    check_data(manifest.data, work)
    return work


def locate(path: str, work: Path) -> Path:
    """Where a recorded path lies in this job: below the work folder, the home folder, or absolute."""
    return work / os.path.expanduser(path)


def _link(entry: FileRecord, work: Path, run_dir: Path, data_dir: Path, log: Callable[[str], None]) -> None:
    place = Path(os.path.normpath(locate(entry.path, work)))
    if place.exists() or run_dir not in place.parents:
        return
    inner = [part for part in PurePosixPath(entry.path).parts if part not in ("..", ".", "~", "/")]
    for source in (data_dir / entry.path, data_dir.joinpath(*inner), data_dir / inner[-1]):
        if source.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(source.resolve())
            log(f"data: {entry.path} -> {source}")
            return


def check_data(entries: Sequence[FileRecord], work: Path) -> None:
    """Hold every declared data file against its size and digest.

    Raises:
        JobEnded: with ``DATA_MISMATCH``; the reason names the first file and how many there are.
    """
    problems = [problem for entry in entries if (problem := _problem(entry, locate(entry.path, work)))]
    if not problems:
        return
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise JobEnded(End(JobExit.DATA_MISMATCH, f"data: {problems[0]}{more}"))


def _problem(entry: FileRecord, path: Path) -> str | None:
    try:
        size = path.stat().st_size
        if not path.is_file():
            return f"{entry.path} is not a file here"
        if size != entry.size:
            return f"{entry.path} has {size} bytes here and had {entry.size} in the notebook"
        if entry.digest is None:
            return None
        digest = digest_file(path)
    except FileNotFoundError:
        return f"{entry.path} is missing; put it there or name its folder with --data-dir"
    except OSError as error:
        return f"{entry.path} cannot be read ({error.strerror})"
    if digest != entry.digest:
        return (
            f"{entry.path} has another content here ({short(digest)}) than in the notebook ({short(entry.digest)})"
        )
    return None
