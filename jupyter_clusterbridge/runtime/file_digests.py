"""Digests of files that cells read, taken once for each state of a file and within a budget."""

from __future__ import annotations

import os
import time
from pathlib import Path

from jupyter_clusterbridge.model.canonical import digest_file

MAX_FILE = 256 << 20
"""Larger files get no digest in the session; an export takes it."""
_TICK_NS = 20_000_000
"""Two changes of a file within one tick of the file system's clock may leave one stamp."""


class DigestCache:
    """Remembers digests by path, time of change, size and inode."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int, int], str]] = {}

    def read(self, path: str) -> tuple[int, str | None]:
        """Size and digest of a file; the digest is None when the file is gone, unreadable or large."""
        try:
            status = os.stat(path)
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if status.st_size > MAX_FILE:
                return status.st_size, None
            known = self._known.get(path)
            if known is not None and known[0] == state:
                return status.st_size, known[1]
            digest = digest_file(Path(path))
        except OSError:
            return 0, None
        if time.time_ns() - status.st_mtime_ns > _TICK_NS:
            self._known[path] = (state, digest)
        return status.st_size, digest
