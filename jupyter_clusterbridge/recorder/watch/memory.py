"""How much memory this process may use, and how many were ended for want of it, by its groups or the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_MACHINE = Path("/proc/vmstat")


def memory_limit() -> int:
    """Bytes that the process may use: the smallest limit of its groups, at most what the machine has."""
    limits = [int(psutil.virtual_memory().total)]
    for folder in _groups():
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _read(folder / name).strip()
            if text.isdigit() and int(text) > 0:
                limits.append(int(text))
    return min(limits)


def oom_kills() -> int | None:
    """Processes that the system has ended for want of memory so far; None where nobody counts them."""
    for folder in _groups():
        for name in ("memory.events", "memory.oom_control"):
            found = _counter(_read(folder / name))
            if found is not None:
                return found
    return _counter(_read(_MACHINE))


def _groups() -> Iterator[Path]:
    """Folders of the process's control groups, the innermost first; in a container the root is its own."""
    for line in _read(_MEMBERSHIP).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        root = CGROUPS / "memory" if controllers else CGROUPS
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for count in range(len(parts), -1, -1):
            yield root.joinpath(*parts[:count])


def _counter(text: str) -> int | None:
    for line in text.splitlines():
        name, _, number = line.partition(" ")
        if name == "oom_kill" and number.strip().isdigit():
            return int(number)
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
