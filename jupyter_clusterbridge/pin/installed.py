"""A wheel made again from an installed distribution: the very files that the notebook ran with."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from jupyter_clusterbridge.pin.wheels import Member, write_wheel

_LOCATE = """
import importlib.metadata, json, sys, sysconfig
out = {"schemes": {k: v for k, v in sysconfig.get_paths().items()}, "found": {}}
for dist in importlib.metadata.distributions():
    name, path = dist.metadata["Name"], getattr(dist, "_path", None)
    if name and path is not None:
        out["found"].setdefault(name, [dist.version, str(path)])
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
            [str(python), "-c", _LOCATE], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True, cwd="/"
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    wanted = set(names)
    schemes = answer["schemes"]
    return {
        canonicalize_name(name): Place(version, Path(info), Path(schemes["scripts"]), Path(schemes["data"]))
        for name, (version, info) in answer["found"].items()
        if canonicalize_name(name) in wanted and info.endswith(".dist-info")
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


def repack(place: Place, folder: Path) -> Path | None:
    """Write the wheel that this distribution was installed from, as far as its files still tell.

    Compiled caches and what the installer added are left out, so that two installations give one wheel.
    None when a file is missing or lies where no wheel can put it.
    """
    tag = wheel_tag(place)
    members = _members(place)
    if tag is None or members is None:
        return None
    stem = place.info.name.removesuffix(".dist-info")
    record = f"{stem}.dist-info/RECORD"
    members[record] = Member(_record(members, record))
    target = folder / f"{stem}-{tag}.whl"
    write_wheel(target, members)
    return target


def changed_files(place: Place) -> tuple[str, ...]:
    """Files of the distribution that are not as they were installed."""
    changed = []
    for path, digest in _rows(place):
        method, _, expected = digest.partition("=")
        if method != "sha256":
            continue
        try:
            found = _urlsafe((place.info.parent / path).read_bytes())
        except OSError:
            continue
        if found != expected:
            changed.append(path)
    return tuple(changed)


def _rows(place: Place) -> list[tuple[str, str]]:
    try:
        text = (place.info / "RECORD").read_text(encoding="utf-8")
    except OSError:
        return []
    return [(row[0], row[1] if len(row) > 1 else "") for row in csv.reader(io.StringIO(text)) if row]


def _members(place: Place) -> dict[str, Member] | None:
    site, info = place.info.parent, place.info.name
    stem = info.removesuffix(".dist-info")
    entry_points = _entry_points(place)
    members: dict[str, Member] = {}
    rows = _rows(place)
    for path, _ in rows:
        name = Path(path).name
        if path.endswith((".pyc", ".pyo")) or (path.startswith(info + "/") and name in _INSTALLERS_FILES):
            continue
        file = site / path
        if not path.startswith(("..", "/")):
            member = path
        elif (resolved := file.resolve()).is_relative_to(place.scripts.resolve()):
            if name.removesuffix(".exe") in entry_points:
                continue
            member = f"{stem}.data/scripts/{name}"
        elif resolved.is_relative_to(place.data.resolve()):
            member = f"{stem}.data/data/{resolved.relative_to(place.data.resolve()).as_posix()}"
        else:
            return None
        try:
            content, mode = file.read_bytes(), file.stat().st_mode
        except OSError:
            return None
        if "/scripts/" in member:
            content = _SHEBANG.sub(b"#!python\n", content, count=1)
        members[member] = Member(content, bool(mode & 0o100))
    return members if rows else None


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


def _record(members: dict[str, Member], record: str) -> bytes:
    lines = []
    for name in sorted(members):
        content = members[name].content
        lines.append(f"{name},sha256={_urlsafe(content)},{len(content)}")
    return ("\n".join([*lines, f"{record},,"]) + "\n").encode()


def _urlsafe(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
