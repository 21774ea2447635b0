"""Nothing half-written is ever seen, also on a full disk and in a folder that cannot be written."""

from __future__ import annotations

import contextlib
import errno
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.errors import DiskFull, FolderNotWritable
from jupyter_clusterbridge.model.files import explain_os_error, new_folder, write_atomic

resource = pytest.importorskip("resource", reason="file size limits are a matter of Unix")

LIMITED = """
import resource, signal, sys
from pathlib import Path
from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.files import new_folder, write_atomic

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
target = Path(sys.argv[2])
try:
    if sys.argv[1] == "file":
        write_atomic(target, bytes(1 << 20))
    else:
        with new_folder(target) as folder:
            (folder / "small").write_bytes(b"small")
            (folder / "large").write_bytes(bytes(1 << 20))
except ClusterBridgeError as error:
    print(type(error).__name__)
"""
"""The kernel refuses to let a file grow past 64 KiB, which is how a full disk or quota looks from inside."""


def write_beyond_the_limit(what: str, target: Path) -> str:
    command = [sys.executable, "-c", LIMITED, what, str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    write_atomic(path, b"content", mode=0o600)
    assert path.read_bytes() == b"content"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(path.parent) == ["file.json"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and longer")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert write_beyond_the_limit("file", path) == "DiskFull"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_leaves_no_new_file(tmp_path: Path) -> None:
    assert write_beyond_the_limit("file", tmp_path / "file") == "DiskFull"
    assert names(tmp_path) == []


def test_a_folder_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out" / "bundle"
    with new_folder(target) as folder:
        (folder / "part").write_bytes(b"1")
        assert not target.exists()
    assert (target / "part").read_bytes() == b"1"
    assert target.stat().st_mode & 0o777 == 0o755
    assert names(target.parent) == ["bundle"]


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "old").write_bytes(b"")
    with new_folder(target) as folder:
        (folder / "new").write_bytes(b"")
    assert names(target) == ["new"]
    assert names(tmp_path) == ["bundle"]


def test_an_exception_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "old").write_bytes(b"")
    with contextlib.suppress(KeyError), new_folder(target) as folder:
        (folder / "new").write_bytes(b"")
        raise KeyError
    assert names(target) == ["old"]
    assert names(tmp_path) == ["bundle"]


def test_a_full_disk_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "old").write_bytes(b"")
    assert write_beyond_the_limit("folder", target) == "DiskFull"
    assert names(target) == ["old"]
    assert names(tmp_path) == ["bundle"]


def test_a_place_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FolderNotWritable, match="cannot be written"):
        write_atomic(tmp_path / "file" / "x", b"")
    with pytest.raises(FolderNotWritable, match="cannot be written"), new_folder(tmp_path / "file" / "x"):
        pass


def test_a_folder_in_the_place_of_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "name").mkdir()
    with pytest.raises(FolderNotWritable):
        write_atomic(tmp_path / "name", b"")
    assert names(tmp_path) == ["name"]


def test_a_file_in_the_place_of_the_folder_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"mine")
    with pytest.raises(FolderNotWritable), new_folder(tmp_path / "name") as folder:
        (folder / "x").write_bytes(b"")
    assert (tmp_path / "name").read_bytes() == b"mine"
    assert names(tmp_path) == ["name"]


@pytest.mark.skipif(
    Path("/proc").exists() is False, reason="needs a file system that refuses everyone, such as /proc"
)
def test_a_file_system_that_refuses_root_as_well_is_an_error_of_ours() -> None:
    with pytest.raises(FolderNotWritable):
        write_atomic(Path("/proc/clusterbridge/x"), b"")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_space_is_a_full_disk(code: int) -> None:
    assert isinstance(explain_os_error(OSError(code, "no space"), Path("x")), DiskFull)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_refusal_is_a_folder_that_cannot_be_written(code: int) -> None:
    assert isinstance(explain_os_error(OSError(code, "no"), Path("x")), FolderNotWritable)
