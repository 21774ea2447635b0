"""Wheels on this machine: in find-links folders and file indexes, by exact version and target."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.files import explain_os_error, write_atomic
from jupyter_clusterbridge.pin.folders import cache_folder
from jupyter_clusterbridge.pin.pip_config import PipSettings
from jupyter_clusterbridge.pin.target import Target

_HREF = re.compile(r"""href\s*=\s*["']([^"'#]+)""", re.IGNORECASE)
_LARGE = 1 << 24
"""From this size in bytes on, speed counts more than a tight packing, and a digest is worth keeping."""


def find_local_wheel(name: str, version: str, target: Target, settings: PipSettings) -> Path | None:
    """A wheel of exactly this version on this machine's disk, where pip's settings say to look."""
    fitting = [
        path
        for path in _candidates(name, settings)
        if is_wheel_of(path.name, name, version) and target.accepts(path.name)
    ]
    return min(fitting, key=lambda path: (target.rank(path.name), path.name), default=None)


def is_wheel_of(filename: str, name: str, version: str) -> bool:
    """Whether a file name says that it is a wheel of this package and version, local label included."""
    try:
        found, number, _, _ = parse_wheel_filename(filename)
        return found == canonicalize_name(name) and number == Version(version)
    except (InvalidWheelFilename, InvalidVersion):
        return False


def _candidates(name: str, settings: PipSettings) -> Iterator[Path]:
    for folder in settings.local_links:
        yield from _in_folder(folder)
    for index in settings.local_indexes:
        yield from _in_index(index / canonicalize_name(name))


def _in_folder(place: Path) -> Iterable[Path]:
    if place.is_file() and place.suffix in (".html", ".htm"):
        return _linked(place)
    try:
        return sorted(path for path in place.iterdir() if path.suffix == ".whl")
    except OSError:
        return []


def _in_index(folder: Path) -> Iterable[Path]:
    page = folder / "index.html"
    return _linked(page) if page.is_file() else _in_folder(folder)


def _linked(page: Path) -> Iterator[Path]:
    base = page.resolve().as_uri()
    for link in _HREF.findall(page.read_text(encoding="utf-8", errors="replace")):
        parts = urlsplit(urljoin(base, link))
        path = Path(unquote(parts.path))
        if parts.scheme == "file" and path.suffix == ".whl" and path.is_file():
            yield path


def wheel_digest(path: Path) -> str:
    """SHA-256 of a wheel in 64 hex digits; that of a large file is remembered while the file stays as it is."""
    stat = path.stat()
    if stat.st_size < _LARGE:
        return digest_file(path).removeprefix("sha256:")
    key = hashlib.sha256(f"{path.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}".encode()).hexdigest()
    kept = cache_folder() / "digests" / f"{key}.json"
    try:
        return str(json.loads(kept.read_text())["sha256"])
    except (OSError, ValueError, KeyError):
        digest = digest_file(path).removeprefix("sha256:")
        write_atomic(kept, json.dumps({"sha256": digest}).encode())
        return digest


@dataclass(frozen=True)
class Member:
    """One file of a wheel: its bytes, or where they lie."""

    content: bytes | Path
    program: bool = False
    """Whether it is to be executable once installed."""

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)

    def read(self) -> bytes:
        """Its bytes."""
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


def normalise_wheel(source: Path, target: Path) -> None:
    """Write a wheel again so that its bytes depend on its content alone: order, times and modes are fixed."""
    with zipfile.ZipFile(source) as archive:
        members = {
            info.filename: Member(archive.read(info), bool(info.external_attr >> 16 & 0o111))
            for info in archive.infolist()
            if not info.is_dir()
        }
    write_wheel(target, members)


def write_wheel(target: Path, members: Mapping[str, Member]) -> None:
    """Write a wheel from its members, metadata last, with fixed times and modes.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses; nothing half-written stays.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    level = 6 if sum(member.size for member in members.values()) < _LARGE else 1
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
            for name in sorted(members, key=_order):
                info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
                info.create_system = 3
                info.external_attr = (0o100755 if members[name].program else 0o100644) << 16
                archive.writestr(info, members[name].read(), zipfile.ZIP_DEFLATED, level)
        os.replace(temporary, target)
    except OSError as error:
        raise explain_os_error(error, target) from None
    finally:
        temporary.unlink(missing_ok=True)


def _order(member: str) -> tuple[bool, bool, str]:
    return ".dist-info/" in member, member.endswith("/RECORD"), member
