"""The dense evidence of kept runs, brought into file order and numbered afresh, without holding it in memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from jupyter_clusterbridge.model.errors import DocumentInvalid
from jupyter_clusterbridge.model.evidence import MAGIC, ROW, RowKind
from jupyter_clusterbridge.model.files import explain_os_error

_CHUNK = ROW.size * 8192


@dataclass
class _Part:
    """Where the rows of one run lie in a steps file."""

    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Offsets, begin and end."""
    rows: int = 0
    steps: int = 0


@dataclass(frozen=True)
class RowSource:
    """The rows of one kept run."""

    path: Path
    kernel: int
    run: int
    cell_index: int


class RecordRows:
    """Finds the rows of the given runs once, and writes them out renumbered.

    Args:
        sources: in the order in which their rows are to stand, which is that of the cells in the file.

    Raises:
        DocumentInvalid: a steps file is not one of this version.
    """

    def __init__(self, sources: Sequence[RowSource]) -> None:
        wanted: dict[Path, dict[int, _Part]] = {}
        for source in sources:
            wanted.setdefault(source.path, {})[source.run] = _Part()
        for path, parts in wanted.items():
            if path.exists():
                _index(path, parts)
        self._parts = [(source, wanted[source.path][source.run]) for source in sources]
        self.rows = sum(part.rows for _, part in self._parts)
        self.steps = sum(part.steps for _, part in self._parts)

    def chunks(self) -> Iterator[bytes]:
        """The new file's bytes, piece by piece."""
        yield MAGIC
        numbers = _Numbers()
        for source, part in self._parts:
            numbers.begin_cell()
            if part.rows:
                with source.path.open("rb") as handle:
                    for begin, end in part.ranges:
                        yield from _renumbered(handle, begin, end, source, numbers)

    def write(self, path: Path) -> None:
        """Write the new file piece by piece, under a temporary name first.

        Raises:
            DiskFull, FolderNotWritable: the file system refuses; an old file stays as it was.
        """
        temporary: str | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(self.chunks())
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException as error:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            if isinstance(error, OSError):
                raise explain_os_error(error, path) from None
            raise


class _Numbers:
    """Counts as a clean run counts: ordinals within a cell, steps, loaders and epochs over the whole run."""

    def __init__(self) -> None:
        self._ordinals: dict[int, int] = {}
        self._steps = 0
        self._loaders: dict[tuple[int, int], int] = {}
        self._epochs: dict[int, int] = {}

    def begin_cell(self) -> None:
        self._ordinals = {}

    def row(self, kind: int, kernel: int, a: int, b: int) -> tuple[int, int, int]:
        """The new ordinal, ``a`` and ``b`` of a row."""
        ordinal = self._ordinals.get(kind, 0)
        self._ordinals[kind] = ordinal + 1
        if kind == RowKind.STEP:
            self._steps += 1
            a = self._steps
        elif kind == RowKind.EPOCH:
            a = self._loaders.setdefault((kernel, a), len(self._loaders))
            b = self._epochs.get(a, 0)
            self._epochs[a] = b + 1
        return ordinal, a, b


def _index(path: Path, parts: dict[int, _Part]) -> None:
    with path.open("rb") as handle:
        if handle.read(len(MAGIC)) != MAGIC:
            raise DocumentInvalid(f"{path.name}: not a steps file of this version")
        offset = len(MAGIC)
        while chunk := handle.read(_CHUNK):
            whole = len(chunk) - len(chunk) % ROW.size
            for kind, run, _ordinal, _a, _b in ROW.iter_unpack(chunk[:whole]):
                part = parts.get(run)
                if part is not None:
                    _extend(part, kind, offset)
                offset += ROW.size


def _extend(part: _Part, kind: int, offset: int) -> None:
    part.rows += 1
    part.steps += kind == RowKind.STEP
    if part.ranges and part.ranges[-1][1] == offset:
        part.ranges[-1] = (part.ranges[-1][0], offset + ROW.size)
    else:
        part.ranges.append((offset, offset + ROW.size))


def _renumbered(handle: BinaryIO, begin: int, end: int, source: RowSource, numbers: _Numbers) -> Iterator[bytes]:
    handle.seek(begin)
    left = end - begin
    while left > 0:
        chunk = handle.read(min(left, _CHUNK))
        if not chunk:
            return
        left -= len(chunk)
        out = bytearray()
        for kind, _run, _ordinal, a, b in ROW.iter_unpack(chunk):
            ordinal, a, b = numbers.row(kind, source.kernel, a, b)
            out += ROW.pack(kind, source.cell_index, ordinal, a, b)
        yield bytes(out)
