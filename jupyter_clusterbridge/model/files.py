"""Writing files so that nothing half-written is ever seen, and failures come as errors of ours."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jupyter_clusterbridge.model.errors import ClusterBridgeError, DiskFull, FolderNotWritable


def explain_os_error(error: OSError, path: Path) -> ClusterBridgeError:
    """The error of ours for a failed write at ``path``."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(f"{path}: no space is left on the disk ({error.strerror})")
    return FolderNotWritable(f"{path}: cannot be written ({error.strerror or error})")


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file under a temporary name in the same folder, flush it and rename it.

    Raises:
        DiskFull: no space; the temporary file is gone and an old file is untouched.
        FolderNotWritable: any other failure of the file system.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise explain_os_error(error, path) from None


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Fill a folder beside ``target`` and put it in place only when the block ends without an exception.

    An existing folder ``target`` is replaced as a whole; on failure it stays as it was. A file there is refused.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    target = Path(os.path.abspath(target))
    try:
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file of that name is there")
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise explain_os_error(error, target) from None
    try:
        yield staging
        os.chmod(staging, 0o755)
        _swap(staging, target)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise explain_os_error(error, target) from None
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _swap(staging: Path, target: Path) -> None:
    if not target.exists():
        os.replace(staging, target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    os.replace(target, old / "was")
    try:
        os.replace(staging, target)
    except OSError:
        os.replace(old / "was", target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
