"""What became of a declared artifact."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_clusterbridge.model.canonical import digest_file, digest_json
from jupyter_clusterbridge.model.record import ArtifactRecord


def artifact_record(path: str, root: Path | None) -> ArtifactRecord:
    """Size and digest of a declared file or folder below ``root``.

    A path that leads out of ``root``, also by a link, counts as missing. A folder's digest is that of its files'
    names and digests; its size their sum.
    """
    missing = ArtifactRecord(path, None, None)
    if root is None:
        return missing
    base = os.path.realpath(root)
    full = os.path.realpath(os.path.join(base, path))
    if not full.startswith(base + os.sep):
        return missing
    try:
        if os.path.isdir(full):
            return _folder_record(path, Path(full))
        return ArtifactRecord(path, os.path.getsize(full), digest_file(Path(full)))
    except OSError:
        return missing


def _folder_record(path: str, folder: Path) -> ArtifactRecord:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    digests = {file.relative_to(folder).as_posix(): digest_file(file) for file in files}
    return ArtifactRecord(path, sum(file.stat().st_size for file in files), digest_json(digests))
