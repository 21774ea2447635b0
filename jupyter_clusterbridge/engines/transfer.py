"""Files into and out of a container whose engine cannot see our folders."""

from __future__ import annotations

import contextlib
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from jupyter_clusterbridge.model.files import explain_os_error

_CHUNK = 1 << 20


@contextlib.contextmanager
def pack(folder: Path, names: Sequence[str], target: str) -> Iterator[IO[bytes]]:
    """An archive of some files of a folder, to be unpacked at the root of a container.

    Args:
        folder: where the files are; those that are missing are left out.
        names: paths below the folder.
        target: absolute path in the container that stands for the folder.
    """
    with tempfile.TemporaryFile() as archive:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for name in names:
                path = PurePosixPath(name)
                if (folder / name).is_file() and not path.is_absolute() and ".." not in path.parts:
                    tar.add(folder / name, arcname=str(PurePosixPath(target, path)).lstrip("/"), filter=_readable)
        archive.seek(0)
        yield archive


def _readable(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The job runs as another user."""
    member.mode |= 0o444
    return member


def unpack(stream: Iterable[bytes], folder: Path) -> None:
    """Unpack an engine's archive of one folder; links and whatever points outside stay behind.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    try:
        with tempfile.TemporaryFile() as archive:
            for chunk in stream:
                archive.write(chunk)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as tar:
                for member in tar:
                    _unpack_one(tar, member, folder)
    except OSError as error:
        raise explain_os_error(error, folder) from None


def _unpack_one(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    # the first part is the name of the archived folder itself
    parts = PurePosixPath(member.name).parts[1:]
    if not parts or ".." in parts:
        return
    target = folder.joinpath(*parts)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif member.isreg() and (content := tar.extractfile(member)) is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as sink:
            while chunk := content.read(_CHUNK):
                sink.write(chunk)
