"""Reading a growing log file line by line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO


def follow(path: Path, ended: Callable[[], bool], poll_s: float = 0.1) -> Iterator[str]:
    """Yield the lines of a file from its first one until ``ended()`` and the file is read out.

    The file may appear later, or never. A last line without a newline is yielded at the end.
    """
    while not path.exists():
        if ended() and not path.exists():
            return
        time.sleep(poll_s)
    with path.open("r", encoding="utf-8", errors="replace") as handle:
        yield from _lines(handle, ended, poll_s)


def _lines(handle: TextIO, ended: Callable[[], bool], poll_s: float) -> Iterator[str]:
    pending = ""
    while True:
        # asked before reading, so that what was written up to the end is still read
        over = ended()
        while chunk := handle.readline():
            pending += chunk
            if pending.endswith("\n"):
                yield pending[:-1]
                pending = ""
        if over:
            break
        time.sleep(poll_s)
    if pending:
        yield pending
