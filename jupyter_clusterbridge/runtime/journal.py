"""The journal: an append-only log of one kernel, and the dense evidence beside it.

Readers see whole events; what stands on disk is shorter, see :mod:`jupyter_clusterbridge.runtime.journal_lines`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from jupyter_clusterbridge.model.canonical import canonical_json
from jupyter_clusterbridge.model.codec import Json, check_schema, from_json, to_json
from jupyter_clusterbridge.model.errors import DocumentInvalid, JournalUnreadable
from jupyter_clusterbridge.model.events import EVENTS, JOURNAL_SCHEMA, Event, KernelStart
from jupyter_clusterbridge.model.evidence import MAGIC, ROW, Row
from jupyter_clusterbridge.runtime.journal_lines import LineReader, LineWriter
from jupyter_clusterbridge.runtime.renamed import belonging

FOLDER = ".clusterbridge"
_STEPS_BUFFER = 256


@dataclasses.dataclass(frozen=True)
class Journal:
    """One kernel's journal, read back."""

    path: Path
    events: tuple[Event, ...]
    torn: bool = False
    """Whether a torn last line was dropped."""

    @property
    def start(self) -> KernelStart:
        """The first event."""
        return cast(KernelStart, self.events[0])

    @property
    def steps_path(self) -> Path:
        """Where the dense evidence lies; the file may be missing."""
        return steps_path(self.path)


def steps_path(journal: Path) -> Path:
    """The steps file that belongs to a journal file."""
    return journal.with_suffix(".steps.bin")


def journal_folder(notebook: Path) -> Path:
    """Where the journals of a notebook lie: beside it, or below ``CLUSTERBRIDGE_HOME``.

    The second is used where the variable is set and the notebook's folder cannot be written.
    """
    beside = notebook.parent / FOLDER / notebook.stem
    home = os.environ.get("CLUSTERBRIDGE_HOME")
    if home is None or beside.exists() or os.access(notebook.parent, os.W_OK):
        return beside
    return Path(home) / notebook.stem


class JournalWriter:
    """Appends events to a journal, one line each, flushed per event.

    A failed write stops the recording with one call of ``on_failure``; it never raises to the caller.
    """

    def __init__(self, path: Path, on_failure: Callable[[OSError], None]) -> None:
        self.path = path
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._rows: list[bytes] = []
        self._steps: BinaryIO | None = None
        self._events: BinaryIO | None = None
        self._closed = False
        self._lines = LineWriter()
        self.failed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._events, lines = _open_events(path)
            self._lines = LineWriter(lines)
        except OSError as error:
            self._fail(error)

    def write(self, event: Event) -> None:
        """Append one event and flush it."""
        whole = {"event": event.EVENT, **cast("dict[str, Json]", to_json(event))}
        with self._lock:
            if self._events is None:
                return
            try:
                _write_all(self._events, canonical_json(self._lines.compact(whole)) + b"\n")
            except OSError as error:
                self._fail(error)

    def row(self, row: Row) -> None:
        """Append one row of dense evidence; flushed every few hundred rows and by :meth:`flush`."""
        self.packed_row(row.pack())

    def packed_row(self, row: bytes) -> None:
        """The same for a row that is packed already; training pays for each microsecond."""
        self._rows.append(row)
        if len(self._rows) >= _STEPS_BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows out."""
        with self._lock:
            rows, self._rows = self._rows, []
            if not rows or self.failed or self._closed:
                return
            try:
                if self._steps is None:
                    self._steps = _open_steps(steps_path(self.path))
                _write_all(self._steps, b"".join(rows))
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        """Flush and close; later writes do nothing."""
        self.flush()
        with self._lock:
            for handle in (self._events, self._steps):
                if handle is not None:
                    handle.close()
            self._events = self._steps = None
            self._closed = True

    def _fail(self, error: OSError) -> None:
        if self.failed:
            return
        self.failed = True
        self._events = self._steps = None
        self._on_failure(error)


def _open_events(path: Path) -> tuple[BinaryIO, int]:
    """Open for appending and count the lines; what a kill has torn off is cut, or the next line would join it."""
    handle = path.open("ab", buffering=0)
    if not handle.tell():
        return handle, 0
    content = path.read_bytes()
    handle.truncate(content.rfind(b"\n") + 1)
    return handle, content.count(b"\n")


def _open_steps(path: Path) -> BinaryIO:
    handle = path.open("ab", buffering=0)
    size = handle.tell()
    if size < len(MAGIC):
        handle.truncate(0)
        _write_all(handle, MAGIC)
    else:
        handle.truncate(size - (size - len(MAGIC)) % ROW.size)
    return handle


def _write_all(handle: BinaryIO, data: bytes) -> None:
    """Write to an unbuffered file; a nearly full disk takes a part without an error."""
    view = memoryview(data)
    while view:
        view = view[handle.write(view) :]


def read_journal(path: Path) -> Journal:
    """Read a journal; a torn last line is dropped.

    Raises:
        JournalUnreadable: a line before the last is not one of ours, or the file is another thing altogether.
        DocumentTooNew: the journal was written by a newer version.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JournalUnreadable(f"{path}: cannot be read ({error.strerror})") from None
    lines = content.split(b"\n")
    torn = lines.pop() != b""
    events: list[Event] = []
    reader = LineReader()
    for number, line in enumerate(lines, start=1):
        try:
            events.append(_event(line, reader, f"{path.name}, line {number}"))
        except DocumentInvalid as error:
            raise JournalUnreadable(f"{path}: line {number} was not written by ClusterBridge ({error})") from None
    if not events or not isinstance(events[0], KernelStart):
        raise JournalUnreadable(f"{path}: does not begin with the start of a kernel")
    return Journal(path, tuple(events), torn)


def _event(line: bytes, reader: LineReader, where: str) -> Event:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentInvalid(f"{where}: no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("event") not in EVENTS:
        raise DocumentInvalid(f"{where}: no event of ours")
    if data["event"] == KernelStart.EVENT:
        check_schema(JOURNAL_SCHEMA, data.get("schema"), where)
    kind = cast("type[object]", EVENTS[data["event"]])
    return cast(Event, from_json(kind, reader.expand(data, where), where))


def read_journals(notebook: Path) -> tuple[Journal, ...]:
    """All journals of a notebook that hold at least one whole event, oldest kernel first.

    Those that were written under an older name of the notebook are among them.

    Raises:
        JournalUnreadable, DocumentTooNew: see :func:`read_journal`.
    """
    journals = [read_journal(path) for path in belonging(notebook, journal_folder(notebook))]
    return tuple(sorted(journals, key=lambda journal: journal.start.at))
