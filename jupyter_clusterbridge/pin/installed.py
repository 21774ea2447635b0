"""A wheel made again from an installed distribution: the very files that the notebook ran with."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.pin.wheels import Member, write_wheel

_LOCATE = """
import importlib.metadata, json, sys, sysconfig
out = {"schemes": sysconfig.get_paths(), "found": {}}
for name in sys.argv[1:]:
    try:
        dist = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        continue
    out["found"][name] = [dist.version, str(getattr(dist, "_path", ""))]
print(json.dumps(out))
"""
# written by the installer: they say where and how it was installed, not what it is
_INSTALLERS_FILES = {
    "INSTALLER",
    "REQUESTED",
    "RECORD",
    "direct_url.json",
    "RECORD.jws",
    "RECORD.p7s",
    "uv_cache.json",
}
_SHEBANG = re.compile(rb"^#!.*python[^\n]*\n|^#!/bin/sh\n'''exec' [^\n]*\n' '''\n")
_TIMEOUT_S = 60
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Place:
    """Where a distribution is installed."""

    version: str
    info: Path
    scripts: Path
    data: Path


def locate(python: Path, names: Iterable[str]) -> dict[str, Place]:
    """Where an interpreter has these distributions installed, by normalised name."""
    try:
        done = subprocess.run(
            [str(python), "-c", _LOCATE, *sorted(names)],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
            cwd="/",
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    schemes = answer["schemes"]
    return {
        name: Place(version, Path(info), Path(schemes["scripts"]), Path(schemes["data"]))
        for name, (version, info) in answer["found"].items()
        if info.endswith(".dist-info")
    }


def wheel_tag(place: Place) -> str | None:
    """The part of a wheel's file name that says where it runs, for example ``py3-none-any``."""
    try:
        text = (place.info / "WHEEL").read_text(encoding="utf-8")
    except OSError:
        return None
    tags = [line.split(":", 1)[1].strip().split("-") for line in text.splitlines() if line.startswith("Tag:")]
    if not tags or any(len(tag) != 3 for tag in tags):
        return None
    return "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))


@dataclass(frozen=True)
class Repacked:
    """A wheel made from installed files."""

    path: Path
    changed: tuple[str, ...]
    """Files that are not as they were installed."""


def repack(place: Place, folder: Path) -> Repacked | None:
    """Write the wheel that this distribution was installed from, as far as its files still tell.

    Compiled caches and what the installer added are left out, so that two installations give one wheel.
    Where the folder has the wheel from before and no file has changed since, it is taken again.

    Args:
        place: where the distribution is installed.
        folder: where wheels are kept.

    Returns:
        None when a file is missing or lies where no wheel can put it.
    """
    tag = wheel_tag(place)
    rows = _rows(place)
    members = _members(place, [path for path, _ in rows])
    if tag is None or not members:
        return None
    stem = place.info.name.removesuffix(".dist-info")
    target = folder / _state(place, members) / f"{stem}-{tag}.whl"
    note = target.with_suffix(".changed.json")
    if target.is_file() and note.is_file():
        return Repacked(target, tuple(json.loads(note.read_bytes())))
    digests = {name: _digest(member) for name, member in members.items()}
    changed = [path for path, digest in rows if path in digests and digest not in ("", f"sha256={digests[path]}")]
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{name},sha256={digests[name]},{members[name].size}\n" for name in sorted(members)]
    members[record] = Member("".join([*lines, f"{record},,\n"]).encode())
    write_wheel(target, members)
    write_atomic(note, json.dumps(changed).encode())
    return Repacked(target, tuple(changed))


def _state(place: Place, members: Mapping[str, Member]) -> str:
    """A name for the state of the installed files that changes when one of them does."""
    state = hashlib.sha256(str(place.info).encode())
    for name, member in members.items():
        if isinstance(member.content, Path):
            stat = member.content.stat()
            state.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return state.hexdigest()


def _rows(place: Place) -> list[tuple[str, str]]:
    try:
        text = (place.info / "RECORD").read_text(encoding="utf-8")
    except OSError:
        return []
    return [(row[0], row[1] if len(row) > 1 else "") for row in csv.reader(io.StringIO(text)) if row]


def _members(place: Place, paths: Iterable[str]) -> dict[str, Member] | None:
    info = place.info.name
    commands = _entry_points(place)
    members: dict[str, Member] = {}
    for path in paths:
        file = place.info.parent / path
        if path.endswith((".pyc", ".pyo")) or (path.startswith(info + "/") and file.name in _INSTALLERS_FILES):
            continue
        name = _member_name(place, path)
        if name is None or not file.is_file():
            return None
        if ".data/scripts/" not in name:
            members[name] = Member(file, bool(file.stat().st_mode & 0o100))
        elif file.name.removesuffix(".exe") not in commands:
            members[name] = Member(_SHEBANG.sub(b"#!python\n", file.read_bytes(), count=1), program=True)
    return members


def _member_name(place: Place, path: str) -> str | None:
    """The name in the wheel of a file that lies at this path below the site folder."""
    if not path.startswith(("..", "/")):
        return path
    stem = place.info.name.removesuffix(".dist-info")
    resolved = (place.info.parent / path).resolve()
    for kind, root in (("scripts", place.scripts.resolve()), ("data", place.data.resolve())):
        if resolved.is_relative_to(root):
            return f"{stem}.data/{kind}/{resolved.relative_to(root).as_posix()}"
    return None


def _entry_points(place: Place) -> set[str]:
    try:
        text = (place.info / "entry_points.txt").read_text(encoding="utf-8")
    except OSError:
        return set()
    names: set[str] = set()
    active = False
    for line in text.splitlines():
        if line.startswith("["):
            active = line.strip() in ("[console_scripts]", "[gui_scripts]")
        elif active and "=" in line:
            names.add(line.split("=", 1)[0].strip())
    return names


def _digest(member: Member) -> str:
    """SHA-256 in the form that a wheel's RECORD has it."""
    state = hashlib.sha256()
    if isinstance(member.content, bytes):
        state.update(member.content)
    else:
        with member.content.open("rb") as file:
            while chunk := file.read(_CHUNK):
                state.update(chunk)
    return base64.urlsafe_b64encode(state.digest()).rstrip(b"=").decode()
