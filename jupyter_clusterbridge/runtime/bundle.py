"""Sealing a bundle with digests, and reading it back with every digest checked."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import cast

from jupyter_clusterbridge.model.bundle import BUNDLE_FILE, PROJECT_FOLDER, WHEELS_FOLDER, BundleManifest
from jupyter_clusterbridge.model.canonical import digest_file, digest_json, pretty_json
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.errors import BundleInvalid, BundleModified, DocumentInvalid
from jupyter_clusterbridge.model.files import explain_os_error, write_atomic

_JUNK_FOLDERS = {"__pycache__", ".ipynb_checkpoints"}
_JUNK_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}


def seal(folder: Path, manifest: BundleManifest) -> BundleManifest:
    """Compute the digests of a bundle's files and write ``bundle.json``.

    Args:
        folder: a folder that holds every other file of the bundle.
        manifest: what to write; its ``files`` and ``digest`` are computed here.

    Returns:
        The manifest as written.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    files = {name: digest_file(folder / name) for name in bundle_files(folder)}
    sealed = dataclasses.replace(manifest, files=files, digest="")
    document = cast("dict[str, object]", to_json(sealed))
    sealed = dataclasses.replace(sealed, digest=_document_digest(document))
    write_atomic(folder / BUNDLE_FILE, pretty_json(to_json(sealed)))
    return sealed


def read_bundle(folder: Path) -> BundleManifest:
    """Read a bundle's manifest and hold every file against its digest.

    Raises:
        BundleInvalid: the folder is no bundle, or a part is missing.
        BundleModified: a file, or the manifest itself, is not what the export wrote.
        DocumentTooNew: a newer version of ClusterBridge wrote it.
    """
    document = _read_document(folder)
    try:
        manifest = from_json(BundleManifest, document, BUNDLE_FILE)
    except DocumentInvalid as error:
        raise BundleInvalid(f"{folder}: {error}") from None
    if document.get("digest") != _document_digest(document):
        raise BundleModified(f"{folder / BUNDLE_FILE}: was changed after the export")
    for name, expected in manifest.files.items():
        _check_file(folder, name, expected)
    _check_nothing_added(folder, manifest)
    return manifest


def bundle_files(folder: Path) -> Iterator[str]:
    """Paths of a bundle's files below its folder, sorted, without ``bundle.json`` and without caches."""
    found = []
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.is_file() and not _JUNK_FOLDERS & set(relative.parts) and path.name not in _JUNK_FILES:
            found.append(relative.as_posix())
    return iter(sorted(name for name in found if name != BUNDLE_FILE))


def _read_document(folder: Path) -> dict[str, object]:
    path = folder / BUNDLE_FILE
    try:
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise BundleInvalid(f"{folder}: is no bundle (it has no {BUNDLE_FILE})") from None
    except OSError as error:
        raise BundleInvalid(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise BundleModified(f"{path}: is not valid JSON any more ({error})") from None
    if not isinstance(document, dict):
        raise BundleInvalid(f"{path}: holds no JSON object")
    return document


def _document_digest(document: dict[str, object]) -> str:
    return digest_json({key: value for key, value in document.items() if key != "digest"})


def _check_file(folder: Path, name: str, expected: str) -> None:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise BundleInvalid(f"{folder / BUNDLE_FILE}: names a file outside the bundle ({name})")
    path = folder / name
    try:
        found = digest_file(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise BundleInvalid(f"{path}: is missing from the bundle") from None
    except OSError as error:
        raise BundleInvalid(f"{path}: cannot be read ({error.strerror})") from None
    if found != expected:
        raise BundleModified(f"{path}: was changed after the export")


def _check_nothing_added(folder: Path, manifest: BundleManifest) -> None:
    """A file put into a folder that the job imports or installs from makes another model."""
    try:
        present = list(bundle_files(folder))
    except OSError as error:
        raise explain_os_error(error, folder) from None
    for name in present:
        if name.split("/", 1)[0] in (PROJECT_FOLDER, WHEELS_FOLDER) and name not in manifest.files:
            raise BundleModified(f"{folder / name}: was added after the export")
