"""Rows of dense evidence in the order in which things happened, also when a value is known only later."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from jupyter_clusterbridge.model.evidence import ROW, RowKind
from jupyter_clusterbridge.runtime.journal import JournalWriter


class PendingRow(Protocol):
    """A row whose value is still on its way, for example from a GPU."""

    kind: RowKind
    run: int

    def ready(self) -> bool:
        """Whether the value has arrived; must not wait."""

    def values(self) -> tuple[int, int]:
        """The row's ``a`` and ``b``; waits when the value has not arrived."""

    def done(self) -> None:
        """The row is written; tell whoever waits. May raise a guard's trip."""


class RowQueue:
    """Numbers rows and writes them; rows behind a pending one wait, so that the order never depends on timing."""

    def __init__(self, writer: JournalWriter) -> None:
        self._write = writer.packed_row
        self._ordinals: dict[RowKind, int] = {}
        self._run = 0
        self._held: deque[bytes | PendingRow] = deque()

    def put(self, kind: RowKind, run: int, a: int, b: int) -> None:
        """Write a row, or hold it when an earlier one is pending."""
        row = self._pack(kind, run, a, b)
        if self._held:
            self._held.append(row)
        else:
            self._write(row)

    def defer(self, pending: PendingRow) -> None:
        """Hold a place for a row whose value comes later."""
        self._held.append(pending)

    def drain(self, *, wait: bool = False) -> None:
        """Write what has arrived; with ``wait`` all that is held, as must be done before another run begins."""
        while self._held:
            head = self._held[0]
            if isinstance(head, bytes):
                self._held.popleft()
                self._write(head)
                continue
            if not wait and not head.ready():
                return
            self._held.popleft()
            self._write(self._pack(head.kind, head.run, *head.values()))
            head.done()

    def _pack(self, kind: RowKind, run: int, a: int, b: int) -> bytes:
        if run != self._run:
            self._run = run
            self._ordinals = dict.fromkeys(RowKind, 0)
        ordinal = self._ordinals[kind]
        self._ordinals[kind] = ordinal + 1
        return ROW.pack(kind, run, ordinal, a, b)
