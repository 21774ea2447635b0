"""What the resolver found, read from what it printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from jupyter_clusterbridge.model.errors import LockFailed
from jupyter_clusterbridge.pin.pip_config import is_remote, without_credentials

_UNSOLVABLE = "No solution found when resolving dependencies"
_NAME = r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
_MISSING = (
    re.compile(_NAME + r" was not found in the"),
    re.compile(r"there is no version of " + _NAME + r"=="),
    re.compile(_NAME + r"==\S+ has no (?:usable )?wheels"),
    re.compile(_NAME + r"==\S+ has no (?:source distribution|wheels or source)"),
    re.compile(r"only the following versions of " + _NAME),
)
_PIN = re.compile(r"^" + _NAME + r"==(\S+?)(?: ; .*?)?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


class Unsolvable(Exception):
    """No set of files satisfies the requirements; ``missing`` names the packages that are to blame."""

    def __init__(self, message: str, missing: frozenset[str]) -> None:
        super().__init__(message)
        self.message = message
        self.missing = missing


@dataclass(frozen=True)
class IndexFile:
    """One file of a package on an index."""

    url: str
    sha256: str

    @property
    def filename(self) -> str:
        """The last part of the address."""
        return unquote(self.url.rsplit("/", 1)[-1])


@dataclass(frozen=True)
class Resolved:
    """One package as the indexes serve it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of every file of this version, 64 hex digits each, sorted."""
    files: tuple[IndexFile, ...]
    """Files that install on the target: wheels, and the source archive."""


def sanitise(text: str) -> str:
    """A tool's message without credentials."""
    return _CREDENTIALS.sub("", text).strip()


def failure_of(stderr: str) -> Exception:
    """The error for what the resolver said when it failed."""
    message = sanitise(stderr)
    if _UNSOLVABLE in message:
        joined = " ".join(message.split())
        names = {canonicalize_name(match[1]) for pattern in _MISSING for match in pattern.finditer(joined)}
        return Unsolvable(message, frozenset(names))
    if re.search(r"(?i)failed to fetch|request failed|error sending request|could not connect", message):
        place = re.search(r"https?://[^/\s`]+", message)
        where = without_credentials(place[0]) if place else "a package index"
        reason = message.splitlines()[-1].removeprefix("  cause: ").strip()
        return LockFailed(
            f"{where} cannot be used: {reason}",
            hint="Check the network and the index settings of pip ('pip config list'), then export again.",
        )
    return LockFailed(f"the resolver failed: {message}")


def parse_listing(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Version and hashes by name, from output in the form of a requirements file."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    name = ""
    for line in text.splitlines():
        pin = _PIN.match(line)
        digest = _HASH.search(line)
        if pin:
            name = canonicalize_name(pin[1])
            found[name] = (pin[2], ())
        elif digest and name:
            version, hashes = found[name]
            found[name] = (version, (*hashes, digest[1]))
    return found


def merge(listing: Mapping[str, tuple[str, tuple[str, ...]]], document: Mapping[str, Any]) -> dict[str, Resolved]:
    """Packages from a listing, which has the hashes of all files, and a lock file, which has those that fit."""
    files: dict[str, tuple[IndexFile, ...]] = {
        canonicalize_name(entry["name"]): _files(entry) for entry in document.get("packages", [])
    }
    return {
        name: Resolved(name, version, tuple(sorted(set(hashes))), files.get(name, ()))
        for name, (version, hashes) in listing.items()
    }


def _files(entry: Mapping[str, Any]) -> tuple[IndexFile, ...]:
    raw = [*entry.get("wheels", []), *([entry["sdist"]] if "sdist" in entry else [])]
    found = [
        IndexFile(without_credentials(file["url"]), file["hashes"]["sha256"])
        for file in raw
        if is_remote(file.get("url", "")) and "sha256" in file.get("hashes", {})
    ]
    return tuple(sorted(found, key=lambda file: (not file.filename.endswith(".whl"), file.filename)))
