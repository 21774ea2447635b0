"""Installed distributions of this process's ``sys.path``, and which of them are in memory.

Metadata files are read with a few regular expressions: parsing them as mail, as the standard library
does, would take most of a second in an environment of a few hundred packages. What was read is kept
until the folder that holds it changes.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jupyter_clusterbridge.model.environment import SourceKind

_HEADER = re.compile(rb"^(Name|Version|Requires-Dist):[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_RECORD_TOP = re.compile(rb'^"?([^/,"\r\n]+)([/,])', re.MULTILINE)
_RECORD_PATH = re.compile(rb'^"?([^,"\r\n]+)', re.MULTILINE)
_NORMALISE = re.compile(r"[-_.]+")
_MAPPING = re.compile(r"^MAPPING[^=]*= (\{.*\})\s*$", re.MULTILINE)
_MODULE_SUFFIXES = (".py", ".so", ".pyd")
# loaded by .pth files at every start of the interpreter, so that they tell nothing
_STARTUP_MODULES = {"_distutils_hack", "_virtualenv", "sitecustomize", "usercustomize", "distutils-precedence"}
_NOT_MODULES = {"..", "__pycache__", "tests", "test", "docs", "examples", "setup", "conftest", "noxfile"}


@dataclass(frozen=True)
class Installed:
    """One distribution as its metadata folder describes it."""

    name: str
    version: str
    source: SourceKind
    origin: str | None
    requires: tuple[str, ...]
    modules: frozenset[str]
    """Top-level module names."""
    info: str
    """Path of the metadata folder or file."""
    roots: tuple[str, ...]
    """Folders that its modules lie in: the site folder, or the project's for an editable install."""
    stamp: int
    """Modification time of the metadata in nanoseconds."""


_site_cache: dict[str, tuple[int, list[str]]] = {}
_info_cache: dict[str, Installed] = {}
_paths_cache: dict[tuple[str, int], frozenset[str]] = {}


def normalise(name: str) -> str:
    """A distribution's name in its normal form (PEP 503).

    >>> normalise("Foo.Bar_baz")
    'foo-bar-baz'
    """
    return _NORMALISE.sub("-", name).lower()


def site_stamps() -> tuple[int, ...]:
    """Modification times of the folders on ``sys.path``; they change when something is installed."""
    stamps = []
    for folder in sys.path:
        try:
            stamps.append(os.stat(folder or ".").st_mtime_ns if folder.endswith("packages") else 0)
        except OSError:
            stamps.append(0)
    return tuple(stamps)


def installed() -> dict[str, Installed]:
    """Distributions by normalised name; the first on ``sys.path`` wins, as for imports."""
    found: dict[str, Installed] = {}
    for folder in dict.fromkeys(sys.path):
        for info in _infos(folder or "."):
            entry = _read(info, folder or ".")
            if entry is not None:
                found.setdefault(entry.name, entry)
    return found


def _infos(folder: str) -> list[str]:
    try:
        stamp = os.stat(folder).st_mtime_ns
        kept = _site_cache.get(folder)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        with os.scandir(folder) as entries:
            infos = sorted(entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
    except OSError:
        return []
    _site_cache[folder] = (stamp, infos)
    return infos


def _read(info: str, folder: str) -> Installed | None:
    try:
        stamp = os.stat(info).st_mtime_ns
    except OSError:
        return None
    kept = _info_cache.get(info)
    if kept is not None and kept.stamp == stamp:
        return kept
    metadata = (
        _bytes(info, "METADATA") or _bytes(info, "PKG-INFO") or (_bytes(info) if os.path.isfile(info) else b"")
    )
    head = re.split(rb"\r?\n\r?\n", metadata, maxsplit=1)[0]
    fields: dict[bytes, list[str]] = {}
    for key, value in _HEADER.findall(head):
        fields.setdefault(key, []).append(value.decode("utf-8", "replace"))
    if not fields.get(b"Name") or not fields.get(b"Version"):
        return None
    version = fields[b"Version"][0]
    source, origin = _source(info, version)
    modules, roots = _modules(info, folder, source, fields[b"Name"][0])
    entry = Installed(
        name=normalise(fields[b"Name"][0]),
        version=version,
        source=source,
        origin=origin,
        requires=tuple(fields.get(b"Requires-Dist", ())) or _egg_requires(info),
        modules=modules,
        info=info,
        roots=roots,
        stamp=stamp,
    )
    _info_cache[info] = entry
    return entry


def _bytes(*parts: str) -> bytes:
    try:
        with open(os.path.join(*parts), "rb") as handle:
            return handle.read()
    except OSError:
        return b""


def _egg_requires(info: str) -> tuple[str, ...]:
    lines = _bytes(info, "requires.txt").decode("utf-8", "replace").split("[", 1)[0].splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _source(info: str, version: str) -> tuple[SourceKind, str | None]:
    by_conda = _bytes(info, "INSTALLER").strip() == b"conda"
    raw = _bytes(info, "direct_url.json")
    if by_conda or b"/feedstock_root/" in raw or b"conda-bld" in raw:
        # conda's direct_url names a folder of its build machine
        return SourceKind.CONDA, None
    if raw:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            return _direct(json.loads(raw))
    if info.endswith(".egg-info") and not info.endswith("-packages" + os.sep + os.path.basename(info)):
        return SourceKind.EDITABLE, os.path.dirname(os.path.abspath(info))
    return (SourceKind.LOCAL_VERSION if "+" in version else SourceKind.INDEX), None


def _direct(data: dict[str, dict[str, object]]) -> tuple[SourceKind, str | None]:
    url = str(data["url"])
    parts = urlsplit(url)
    if "vcs_info" in data:
        below = f"#subdirectory={data['subdirectory']}" if data.get("subdirectory") else ""
        commit = data["vcs_info"]["commit_id"]
        return SourceKind.GIT, f"{data['vcs_info'].get('vcs', 'git')}+{_bare(url)}@{commit}{below}"
    path = unquote(parts.path) if parts.scheme == "file" else None
    if "dir_info" in data:
        return (SourceKind.EDITABLE if data["dir_info"].get("editable") else SourceKind.DIRECTORY), path
    return (SourceKind.WHEEL, path) if path is not None else (SourceKind.URL, _bare(url))


def _bare(url: str) -> str:
    """The address without a user's name and password; ``git`` as in ``ssh://git@host`` is no secret."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at or (parts.scheme == "ssh" and user == "git"):
        return url
    return parts._replace(netloc=host).geturl()


def _modules(info: str, folder: str, source: SourceKind, name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    record = _bytes(info, "RECORD") or _bytes(info, "installed-files.txt")
    modules: set[str] = set()
    roots = [folder]
    if source is SourceKind.EDITABLE:
        modules, roots = _editable(info, folder, record)
    for raw, separator in set(_RECORD_TOP.findall(record)):
        entry = raw.decode("utf-8", "replace")
        if separator == b"/":
            if not entry.endswith((".dist-info", ".data", ".libs")):
                modules.add(entry)
        elif entry.endswith(_MODULE_SUFFIXES):
            modules.add(entry.split(".", 1)[0])
    if not modules:
        modules = set(_bytes(info, "top_level.txt").decode("utf-8", "replace").split())
    modules = {
        module for module in modules if module not in _NOT_MODULES and not module.startswith("__editable__")
    }
    return frozenset((modules or {name.replace("-", "_")}) - _STARTUP_MODULES), tuple(roots)


def _editable(info: str, folder: str, record: bytes) -> tuple[set[str], list[str]]:
    """Modules and folders of an editable install, from its ``.pth`` file or its import finder."""
    modules: set[str] = set(_bytes(info, "top_level.txt").decode("utf-8", "replace").split())
    roots: list[str] = [] if record else [os.path.dirname(os.path.abspath(info))]
    for raw in set(_RECORD_PATH.findall(record)):
        path = raw.decode("utf-8", "replace")
        if path.endswith(".pth"):
            lines = _bytes(folder, path).decode("utf-8", "replace").splitlines()
            roots += [line.strip() for line in lines if os.path.isdir(line.strip())]
        elif "__editable__" in path and path.endswith("_finder.py"):
            match = _MAPPING.search(_bytes(folder, path).decode("utf-8", "replace"))
            with contextlib.suppress(ValueError, SyntaxError):
                mapping: dict[str, str] = ast.literal_eval(match[1]) if match else {}
                modules.update(name.split(".", 1)[0] for name in mapping)
                roots += [os.path.dirname(place) for place in mapping.values()]
    if not modules:
        for root in roots:
            modules.update(_children(root))
    return modules, roots


def _children(root: str) -> set[str]:
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        return {
            entry.name.removesuffix(".py")
            for entry in entries
            if (entry.name.endswith(".py") or os.path.isfile(os.path.join(entry.path, "__init__.py")))
        }
    return set()


def recorded_paths(entry: Installed) -> frozenset[str]:
    """Paths of a distribution's files, relative to its site folder."""
    key = (entry.info, entry.stamp)
    if key not in _paths_cache:
        found = _RECORD_PATH.findall(_bytes(entry.info, "RECORD"))
        _paths_cache[key] = frozenset(path.decode("utf-8", "replace") for path in found)
    return _paths_cache[key]


def project_folder(entry_origin: str | None) -> Path | None:
    """The local folder that an origin names, if it is one and is still there."""
    if entry_origin is None or not os.path.isdir(entry_origin):
        return None
    return Path(entry_origin)
