"""Where a bundle may be written, and what is left when it cannot."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.export.target import check_engines
from jupyter_clusterbridge.model.errors import DiskFull, EngineUnavailable, FolderNotWritable
from jupyter_clusterbridge.runtime.bundle import read_bundle


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_an_older_bundle_is_replaced_as_a_whole(make_notebook: Any, export: Any) -> None:
    first = export(make_notebook("import helper"), given={})
    path = make_notebook("x = 1")
    second = export(path)
    assert first.folder == second.folder
    assert read_bundle(second.folder).identity == second.manifest.identity


def test_an_empty_folder_is_taken(make_notebook: Any, export: Any, tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    export(make_notebook("x = 1"))


def test_a_folder_of_something_else_is_refused_and_left_alone(
    make_notebook: Any, export: Any, tmp_path: Path
) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "thesis.tex").write_text("years of work")
    with pytest.raises(FolderNotWritable, match="not empty and holds no bundle"):
        export(make_notebook("x = 1"))
    assert tree(tmp_path / "bundle") == ["thesis.tex"]


def test_the_notebooks_own_folder_is_refused(make_notebook: Any, export: Any) -> None:
    path = make_notebook("x = 1")
    with pytest.raises(FolderNotWritable):
        export(path, path.parent)
    assert tree(path.parent) == ["nb.ipynb"]


def test_a_bundle_with_a_file_of_the_user_is_refused(make_notebook: Any, export: Any) -> None:
    path = make_notebook("x = 1")
    folder = export(path).folder
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FolderNotWritable, match=r"holds notes\.txt"):
        export(path)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_folder_in_another_bundle_is_refused(make_notebook: Any, export: Any) -> None:
    path = make_notebook("x = 1")
    bundle = export(path).folder
    for inner in ("new", "wheels/new"):
        with pytest.raises(FolderNotWritable, match="lies in the bundle"):
            export(path, bundle / inner)
    assert read_bundle(bundle)


def test_a_file_in_the_place_of_the_folder_is_refused(make_notebook: Any, export: Any, tmp_path: Path) -> None:
    (tmp_path / "bundle").write_text("a file")
    with pytest.raises(FolderNotWritable, match="is a file"):
        export(make_notebook("x = 1"))


def test_a_folder_below_a_file_is_refused(make_notebook: Any, export: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderNotWritable):
        export(make_notebook("x = 1"), tmp_path / "file" / "bundle")


def test_a_folder_without_permission_is_refused(
    make_notebook: Any, export: Any, open_folder: Path, without_rights: Any
) -> None:
    shutil.copy(make_notebook("x = 1"), open_folder)
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(FolderNotWritable, match="cannot be written"):
        export(open_folder / "nb.ipynb", open_folder / "bundle")
    assert tree(open_folder) == ["nb.ipynb"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mount.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_nothing_behind(make_notebook: Any, export: Any, small_disk: Path) -> None:
    with pytest.raises(DiskFull, match="no space"):
        export(make_notebook("x = 1"), small_disk / "bundle")
    assert tree(small_disk) == []


def test_a_limit_on_file_size_leaves_the_old_bundle_as_it_was(
    make_notebook: Any, export: Any, tmp_path: Path
) -> None:
    path = make_notebook("x = 1")
    before = export(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 << 10, hard))
    try:
        with pytest.raises(DiskFull):
            export(make_notebook("x = 2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_bundle(before.folder).identity == before.manifest.identity
    assert [name for name in os.listdir(tmp_path) if name.startswith(".bundle")] == []


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EngineUnavailable, match=r"'slurmm'.*known are local, docker"):
        check_engines(["docker", "slurmm"])
    assert check_engines(["docker", "local", "docker"]) == ("local", "docker")
