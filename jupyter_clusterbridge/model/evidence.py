"""Dense evidence: one fixed-width row for each batch, loss and optimizer step."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.errors import DocumentInvalid

MAGIC = b"CBEV\x01\x00\x00\x00"
"""First eight bytes of a steps file: a mark and the version."""
ROW = struct.Struct("<BxxxIQQQ")
"""kind, run or cell, ordinal, a, b: 32 bytes a row, little-endian."""


class RowKind(enum.IntEnum):
    """What a row says; ``a`` and ``b`` are unsigned 64-bit values."""

    BATCH = 1
    """``a``: hash of the indices drawn (0 when unknown); ``b``: hash of the content."""
    LOSS = 2
    """``a``: bits of the loss as float64; ``b``: 1 when finite, 0 when not."""
    STEP = 3
    """``a``: step number over the whole run; ``b``: 0."""
    WEIGHTS = 4
    """``a``: hash of an optimizer's parameters before its first step; ``b``: number of elements."""
    EPOCH = 5
    """``a``: ordinal of the loader; ``b``: epoch number of that loader."""


@dataclass(frozen=True)
class Row:
    """One row. ``where`` is a run number in a journal and a cell index in a record."""

    kind: RowKind
    where: int
    ordinal: int
    """Counts rows of this kind within ``where``, from 0."""
    a: int
    b: int

    def pack(self) -> bytes:
        """The row's 32 bytes."""
        return ROW.pack(self.kind, self.where, self.ordinal, self.a, self.b)


def read_rows(path: Path) -> Iterator[Row]:
    """Read a steps file lazily; a torn last row is dropped.

    Raises:
        DocumentInvalid: the file does not begin with the mark.
    """
    with path.open("rb") as handle:
        head = handle.read(len(MAGIC))
        if head != MAGIC:
            raise DocumentInvalid(f"{path.name}: not a steps file of this version")
        while chunk := handle.read(ROW.size * 4096):
            whole = len(chunk) - len(chunk) % ROW.size
            for kind, where, ordinal, a, b in ROW.iter_unpack(chunk[:whole]):
                yield Row(RowKind(kind), where, ordinal, a, b)


def loss_bits(value: float) -> int:
    """The bits of a float64 as an unsigned integer.

    >>> hex(loss_bits(1.0))
    '0x3ff0000000000000'
    """
    return int.from_bytes(struct.pack("<d", value), "little")


def loss_value(bits: int) -> float:
    """The float64 with the given bits; the inverse of :func:`loss_bits`."""
    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
