"""The kernel's heartbeat: a tiny shared file that tells the supervisor how far training has come."""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass
from pathlib import Path

HEARTBEAT_FILE = "heartbeat"
_STEP = struct.Struct("<Q")
_BEAT = struct.Struct("<Qd")


@dataclass(frozen=True)
class Beat:
    """One reading of the file."""

    step: int
    """Optimizer steps done; 0 before the first."""
    at: float
    """``time.monotonic()`` of the last beat on this host; 0.0 before the first."""


class Heartbeat:
    """The writing side: under a microsecond a beat, no system call.

    The first eight bytes are the step number, the next eight the monotonic time, both little-endian.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as handle:
            handle.write(bytes(_BEAT.size))
        with path.open("r+b") as handle:
            self._map = mmap.mmap(handle.fileno(), _BEAT.size)

    def beat(self, step: int) -> None:
        """Say that ``step`` steps are done."""
        _BEAT.pack_into(self._map, 0, step, time.monotonic())

    def close(self) -> None:
        """Let go of the file; it stays with its last value."""
        self._map.close()


def read_heartbeat(path: Path) -> Beat | None:
    """Read the file; None when there is none yet."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < _BEAT.size:
        return Beat(_STEP.unpack_from(data)[0], 0.0) if len(data) >= _STEP.size else None
    step, at = _BEAT.unpack_from(data)
    return Beat(step, at)
