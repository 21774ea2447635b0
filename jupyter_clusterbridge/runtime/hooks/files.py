"""Files that cells read, write and list, seen by Python's audit events."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

from jupyter_clusterbridge.model.canonical import digest_lines
from jupyter_clusterbridge.model.events import FileRead, FileWrite, Listing
from jupyter_clusterbridge.runtime.file_digests import DigestCache
from jupyter_clusterbridge.runtime.file_places import HIDDEN_NAMES, Places
from jupyter_clusterbridge.runtime.hooks import EvidenceSink, Hook
from jupyter_clusterbridge.runtime.locations import portable_path

MAX_PATHS = 10_000
"""Paths followed in one cell; more are left out with one line in the log."""
MAX_OWN = 8 << 20
"""Bytes of a file of the kernel's own up to which its content is compared; a checkpoint is not read again."""
_OWN_A_CELL = 64 << 20
_EVENTS = frozenset({"open", "os.listdir", "os.scandir", "os.rename", "sqlite3.connect"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REALTIME_COARSE = 5  # from linux/time.h; the time module has no name for it
# whose reading of a file or folder says nothing about the notebook
_IGNORED_CALLERS = ("<frozen importlib", "<frozen zipimport")
_IGNORED_ENDS = ("/linecache.py", "/tokenize.py", "/importlib/metadata/__init__.py", "/tempfile.py", "/pkgutil.py")

_log = logging.getLogger(__name__)
_active: FilesHook | None = None
_added = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    # permanent, since an audit hook cannot be taken out; costs two comparisons while nobody watches
    if _active is not None and event in _EVENTS:
        _active.seen(event, args)


@dataclass
class _Seen:
    """What one cell did to files so far; insertion order is the order of first use."""

    reads: dict[str, tuple[int, str | None] | None] = field(default_factory=dict)
    """Size and digest where they had to be taken before the file was overwritten."""
    writes: dict[str, None] = field(default_factory=dict)
    own: dict[str, tuple[int, str | None] | None] = field(default_factory=dict)
    """The same for files that the kernel had written before."""
    appends: set[str] = field(default_factory=set)
    listings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hashed: int = 0
    relative: bool = False
    """Whether a path was used that goes on from the folder in which the cell began."""
    full: bool = False


class FilesHook(Hook):
    """Collects paths during a cell, from any thread, and writes the events at its end.

    A read is the kernel's own when the kernel wrote the file before, seen by us or by its time of change lying
    within a cell's run (a download by a shell escape, a library that writes in C++). Modules of the notebook's
    folder are reported as reads in the run that first imported them.
    """

    name: ClassVar[str] = "files"

    def __init__(self, sink: EvidenceSink) -> None:
        super().__init__(sink)
        self._places = Places(sink.root)
        self._digests = DigestCache()
        self._cell = _Seen()
        self._written: set[str] = set()
        self._busy = threading.local()
        self._runs: list[tuple[int, int, int]] = []
        self._began = 0
        self._folder = ""
        self._modules: set[str] = set()

    def install(self) -> None:
        """Add the audit function to the process, once."""
        global _added
        if not _added:
            sys.addaudithook(_audit)
            _added = True

    def uninstall(self) -> None:
        """Switch the audit function off."""
        global _active
        if _active is self:
            _active = None

    def begin_cell(self) -> None:
        """Start with nothing seen."""
        global _active
        self._cell = _Seen()
        self._began = _file_clock()
        try:
            self._folder = os.getcwd()
        except OSError:  # it was deleted
            self._folder = ""
        _active = self

    def end_cell(self) -> None:
        """Write reads with digests, then writes, then listings."""
        global _active
        _active = None
        cell, run = self._cell, self.sink.run
        if cell.relative:
            self.sink.read("cwd:.")
        self._runs.append((self._began, time.time_ns(), run))
        for path in self._new_modules():
            cell.reads.setdefault(path, None)
        for path, early in cell.reads.items():
            self._report_read(path, early, run)
        for path, early in cell.own.items():
            self._report_own(path, early, run)
        for path in cell.writes:
            name = portable_path(path, self.sink.root)
            self.sink.emit(FileWrite(run, name, self._own_content(path)[1], path in cell.appends))
        for path, names in cell.listings.items():
            self.sink.emit(
                Listing(
                    run=run,
                    path=portable_path(path, self.sink.root),
                    count=len(names),
                    order_digest=digest_lines(names),
                    set_digest=digest_lines(sorted(names)),
                )
            )

    def seen(self, event: str, args: tuple[Any, ...]) -> None:
        """One audit event; called in any thread, before the operation itself."""
        if getattr(self._busy, "now", False) or not self.sink.run:
            return
        self._busy.now = True
        try:
            self.guarded(self._note, event, args)
        finally:
            self._busy.now = False

    def note_write(self, path: str) -> None:
        """A file is written by code that no audit event shows."""
        self._wrote(os.path.abspath(path))

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        target = args[1] if event == "os.rename" else args[0]
        if target is None and event in ("os.listdir", "os.scandir"):
            target = "."
        if not isinstance(target, (str, bytes, os.PathLike)) or _ignored_caller():
            return
        named = os.fsdecode(target)
        path = os.path.abspath(named)
        if not self._places.ours(path) or self._full():
            return
        if not self._cell.relative and not os.path.isabs(named) and os.getcwd() == self._folder:
            self._cell.relative = True
        if event == "open":
            self._opened(path, args[1], args[2])
        elif event == "os.rename":
            self._wrote(path)
        elif event == "sqlite3.connect":
            self._read(path)
        elif path not in self._cell.listings:
            self._list(path)

    def _opened(self, path: str, mode: object, flags: object) -> None:
        text = mode if isinstance(mode, str) else ""
        bits = flags if isinstance(flags, int) else 0
        writes = bool(set(text) & set("wax+")) or bool(bits & _WRITING)
        if "r" in text or "a" in text or not writes or (not text and bits & os.O_RDWR):
            self._read(path)
        if writes:
            if "a" in text or (not text and bits & os.O_APPEND):
                self._cell.appends.add(path)
            self._wrote(path)

    def _read(self, path: str) -> None:
        cell = self._cell
        if path in cell.reads or path in cell.writes or not os.path.exists(path):
            return
        if path in self._written:
            cell.own[path] = None
        else:
            cell.reads[path] = None

    def _wrote(self, path: str) -> None:
        # read first and now overwritten: this is the last moment at which its content can be known
        if path in self._cell.reads and self._cell.reads[path] is None:
            self._cell.reads[path] = self._digests.read(path)
        elif path in self._cell.own and self._cell.own[path] is None:
            self._cell.own[path] = self._own_content(path)
        self._written.add(path)
        self._cell.writes.setdefault(path)

    def _list(self, path: str) -> None:
        try:
            names = tuple(name for name in os.listdir(path) if name not in HIDDEN_NAMES)
        except OSError:
            return
        self._cell.listings[path] = names

    def _full(self) -> bool:
        cell = self._cell
        if len(cell.reads) + len(cell.writes) + len(cell.listings) < MAX_PATHS:
            return False
        if not cell.full:
            cell.full = True
            _log.warning(
                "run %d touches more than %d files; the others are not recorded", self.sink.run, MAX_PATHS
            )
        return True

    def _report_read(self, path: str, early: tuple[int, str | None] | None, run: int) -> None:
        name = portable_path(path, self.sink.root)
        if early is not None:
            self.sink.emit(FileRead(run, name, *early))
            return
        try:
            status = os.stat(path)
        except OSError:  # it was looked for and not found, or is gone again: nothing that a job could be given
            return
        if not os.path.isfile(path):
            return
        writer = next((n for began, ended, n in self._runs[-1000:] if began < status.st_mtime_ns <= ended), None)
        if writer is not None:
            self._written.add(path)
            self.sink.emit(FileWrite(writer, name, self._own_content(path)[1]))
            if writer != run:
                self._report_own(path, None, run)
            return
        size, digest = self._digests.read(path)
        self.sink.emit(FileRead(run, name, size, digest))

    def _report_own(self, path: str, early: tuple[int, str | None] | None, run: int) -> None:
        if early is None and not os.path.isfile(path):
            return
        size, digest = early or self._own_content(path)
        self.sink.emit(FileRead(run, portable_path(path, self.sink.root), size, digest, own=True))

    def _own_content(self, path: str) -> tuple[int, str | None]:
        """Size and digest of a file that the kernel wrote, if it is small; a cell may write many."""
        try:
            size = os.path.getsize(path)
        except OSError:
            return 0, None
        self._cell.hashed += size
        if size > MAX_OWN or self._cell.hashed > _OWN_A_CELL or not os.path.isfile(path):
            return size, None
        return self._digests.read(path)

    def _new_modules(self) -> list[str]:
        """Source files of the notebook's folder whose modules were imported since the last cell."""
        names = set(sys.modules)
        fresh, self._modules = names - self._modules, names
        found = []
        for name in sorted(fresh):
            source = getattr(sys.modules.get(name), "__file__", None)
            # some modules that are made in memory name a file without a folder
            if not isinstance(source, str) or not source.endswith(".py") or not os.path.isabs(source):
                continue
            path = os.path.abspath(source)
            if name.split(".")[0] in ("jupyter_clusterbridge", "clusterbridge") or not self._places.inside(path):
                continue
            if self._places.ours(path):
                found.append(path)
        return found


def _file_clock() -> int:
    """The earliest stamp that a file written now can get: on Linux that of a clock that ticks every few ms."""
    return time.clock_gettime_ns(_REALTIME_COARSE) if sys.platform == "linux" else time.time_ns()


def _ignored_caller() -> bool:
    # 0 here, 1 _note, 2 guarded, 3 seen, 4 _audit, 5 the code that opened or listed
    try:
        name = sys._getframe(5).f_code.co_filename
    except ValueError:
        return False
    return name.startswith(_IGNORED_CALLERS) or name.replace(os.sep, "/").endswith(_IGNORED_ENDS)


HOOK = FilesHook
