"""Writes ``requirements.txt`` and ``pylock.toml`` (PEP 751): no path, credential or setting of this machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_clusterbridge.model.bundle import WHEELS_FOLDER
from jupyter_clusterbridge.model.environment import SourceKind
from jupyter_clusterbridge.model.lock import LockedFile, LockedPackage
from jupyter_clusterbridge.pin.obtain import Shipped
from jupyter_clusterbridge.pin.resolution import IndexFile, Resolved
from jupyter_clusterbridge.pin.target import Target


@dataclass(frozen=True)
class Entry:
    """One package of the lock, either served by an index or shipped as a wheel."""

    name: str
    version: str
    source: SourceKind
    loaded: bool
    served: Resolved | None = None
    shipped: Shipped | None = None
    by_address: bool = False
    """Whether only an extra index has it, so that its file is named by address."""

    @property
    def has_served_wheel(self) -> bool:
        """Whether an index has a wheel of it for the target."""
        return self.served is not None and any(file.filename.endswith(".whl") for file in self.served.files)

    def locked(self) -> LockedPackage:
        """This package for the manifest."""
        if self.shipped is not None:
            files: tuple[LockedFile, ...] = (
                LockedFile(self.shipped.path.name, self.shipped.sha256, shipped=True),
            )
        else:
            assert self.served is not None
            files = tuple(LockedFile(file.filename, file.sha256) for file in self.served.files)
        return LockedPackage(self.name, self.version, self.source, files, self.loaded)


def requirements_text(entries: Iterable[Entry], target: Target) -> str:
    """A requirements file for ``pip install --require-hashes --no-deps --find-links wheels -r``."""
    return "".join(_requirement(entry, target) for entry in sorted(entries, key=lambda entry: entry.name))


def _requirement(entry: Entry, target: Target) -> str:
    if entry.shipped is not None:
        return requirement_line(entry.name, entry.version, (entry.shipped.sha256,))
    assert entry.served is not None
    if entry.by_address and entry.served.files:
        file = min(entry.served.files, key=lambda file: target.rank(file.filename))
        return _with_hashes(f"{entry.name} @ {file.url}", (file.sha256,))
    return requirement_line(entry.name, entry.version, entry.served.hashes)


def requirement_line(name: str, version: str, hashes: Iterable[str]) -> str:
    """One pinned requirement with its hashes, as it stands in ``requirements.txt``."""
    return _with_hashes(f"{name}=={version}", hashes)


def _with_hashes(head: str, hashes: Iterable[str]) -> str:
    return " \\\n    ".join([head, *(f"--hash=sha256:{digest}" for digest in hashes)]) + "\n"


def pylock_text(entries: Iterable[Entry], target: Target) -> str:
    """The same packages as a PEP 751 lock file; wheels that are shipped are named relative to it."""
    head = [
        'lock-version = "1.0"',
        f'requires-python = "=={target.python_minor}.*"',
        'created-by = "jupyter-clusterbridge"',
    ]
    packages = [_package(entry) for entry in sorted(entries, key=lambda entry: entry.name)]
    return "\n".join([*head, *packages]) + "\n"


def _package(entry: Entry) -> str:
    if entry.shipped is not None:
        return shipped_package(entry.name, entry.version, entry.shipped.path.name, entry.shipped.sha256)
    assert entry.served is not None
    lines = _head(entry.name, entry.version)
    sdists = [file for file in entry.served.files if not file.filename.endswith(".whl")]
    wheels = [file for file in entry.served.files if file.filename.endswith(".whl")]
    lines += [f"sdist = {_file(file)}" for file in sdists[:1]]
    if wheels:
        lines += ["wheels = [", *(f"    {_file(file)}," for file in wheels), "]"]
    return "\n".join(lines)


def shipped_package(name: str, version: str, filename: str, sha256: str) -> str:
    """The entry of a shipped wheel in ``pylock.toml``."""
    path = json.dumps(f"{WHEELS_FOLDER}/{filename}")
    wheel = f"{{ name = {json.dumps(filename)}, path = {path}, hashes = {{ sha256 = {json.dumps(sha256)} }} }}"
    return "\n".join([*_head(name, version), "wheels = [", f"    {wheel},", "]"])


def _head(name: str, version: str) -> list[str]:
    return ["", "[[packages]]", f"name = {json.dumps(name)}", f"version = {json.dumps(version)}"]


def _file(file: IndexFile) -> str:
    name, url, digest = (json.dumps(text) for text in (file.filename, file.url, file.sha256))
    return f"{{ name = {name}, url = {url}, hashes = {{ sha256 = {digest} }} }}"
