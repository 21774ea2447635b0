"""A small file beside the journal that tells, when the kernel is gone, how much memory it had and where it was.

A thread writes it once a second through a memory map; it outlives a kill, as nothing has to be flushed.
"""

from __future__ import annotations

import mmap
import os
import platform
import struct
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import psutil

from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch

INTERVAL_S = 1.0
_PULSE = struct.Struct("<QQQdI")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Pulse:
    """The last sign of a kernel."""

    run: int
    """Number of the last run that had begun."""
    rss_bytes: int
    peak_bytes: int
    """Highest of the samples since that run began."""
    at: float
    """Seconds since 1970."""
    place: int
    """Equal where process ids mean the same: one machine since its last start, in one container or in none."""


def pulse_path(journal: Path) -> Path:
    """The file that belongs to a journal."""
    return journal.with_suffix(".pulse")


def read_pulse(journal: Path) -> Pulse | None:
    """The last sign of the kernel of a journal; None where it left none or ended in order."""
    try:
        data = pulse_path(journal).read_bytes()
        run, rss, peak, at, place = _PULSE.unpack_from(data)
    except (OSError, struct.error):
        return None
    return Pulse(run, rss, peak, at, place) if at else None


def this_place() -> int:
    """See :attr:`Pulse.place`."""
    parts = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(os.readlink(path) if os.path.islink(path) else Path(path).read_text(encoding="ascii"))
        except OSError:
            parts.append("")
    return zlib.crc32("\0".join(parts).encode("utf-8", "surrogateescape"))


class PulseWatch(Watch):
    """Writes the file, and takes it away when the kernel ends in order."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._quit = threading.Event()
        self._map: mmap.mmap | None = None
        self._statm = -1
        self._peak = 0
        self._run = 0
        self._pid = os.getpid()
        self._place = this_place()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Make the file and start the thread."""
        path = pulse_path(self.scene.journal)
        path.write_bytes(bytes(_PULSE.size))
        with path.open("r+b") as handle:
            self._map = mmap.mmap(handle.fileno(), _PULSE.size)
        try:
            # kept open: opening it each time would be seen by every audit hook of the process
            self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:
            self._statm = -1
        self._beat()
        self._thread = threading.Thread(target=self._work, name="clusterbridge-pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and take the file away."""
        if self._pid != os.getpid():
            return
        self._quit.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1
        if self._map is not None:
            self._map.close()
            self._map = None
            pulse_path(self.scene.journal).unlink(missing_ok=True)

    def end_cell(self, ended: Ended) -> None:
        """Between cells the kernel is in none."""
        self._peak = 0

    def _work(self) -> None:
        while not self._quit.wait(INTERVAL_S):
            try:
                self._beat()
            except Exception as error:
                self.scene.failed(error)
                return

    def _beat(self) -> None:
        if self._map is None:
            return
        rss, run = self._rss(), self.scene.run
        self._peak = max(rss, self._peak) if run == self._run else rss
        self._run = run
        _PULSE.pack_into(self._map, 0, run, rss, self._peak, time.time(), self._place)

    def _rss(self) -> int:
        if self._statm < 0:
            return int(psutil.Process().memory_info().rss)
        return int(os.pread(self._statm, 64, 0).split()[1]) * _PAGE
