"""The slim wheel that every bundle ships: what runs in a job, and nothing of the notebook's side."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from jupyter_clusterbridge import model
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.version import VERSION

NAME = "jupyter-clusterbridge-runtime"
REQUIRES = ("ipykernel", "ipython", "nbclient", "nbformat", "psutil", "xxhash")
_WHEEL = b"Wheel-Version: 1.0\nGenerator: clusterbridge\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ROOMS = ("model", "runtime")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build_runtime_wheel(folder: Path) -> Path:
    """Write the wheel into a folder; the same sources give the same bytes.

    Returns:
        Path of ``jupyter_clusterbridge_runtime-<version>-py3-none-any.whl``.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    path = folder / wheel_name()
    write_atomic(path, wheel_bytes())
    return path


def wheel_name() -> str:
    """File name of the wheel."""
    return f"{_stem()}-py3-none-any.whl"


def wheel_bytes() -> bytes:
    """Content of the wheel."""
    members = dict(_sources())
    info = f"{_stem()}.dist-info"
    members[f"{info}/METADATA"] = _metadata().encode()
    members[f"{info}/WHEEL"] = _WHEEL
    record = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, data in members.items()]
    members[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    buffer = io.BytesIO()
    # stored, not deflated: compressors differ between builds of zlib, and the bytes must not
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def _stem() -> str:
    return f"{NAME.replace('-', '_')}-{VERSION}"


def _sources() -> Iterator[tuple[str, bytes]]:
    package = Path(model.__file__).parent.parent
    yield "clusterbridge.py", (package.parent / "clusterbridge.py").read_bytes()
    for name in ("__init__.py", "py.typed"):
        yield f"{package.name}/{name}", (package / name).read_bytes()
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*"), key=lambda path: path.relative_to(package).as_posix()):
            if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts:
                yield f"{package.name}/{path.relative_to(package).as_posix()}", path.read_bytes()


def _metadata() -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {VERSION}",
        "Summary: The part of ClusterBridge that runs inside a job",
        "Requires-Python: >=3.10",
        *(f"Requires-Dist: {name}" for name in REQUIRES),
    ]
    return "\n".join([*lines, ""])


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
