"""Whether the system killed a process of this job for memory, from the control group's counter."""

from __future__ import annotations

import re
from pathlib import Path

_COUNTER = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


class MemoryKills:
    """Watches the ``oom_kill`` counter of this process's control group, version 1 or 2.

    Without control groups (macOS, some containers) nothing is ever seen.
    """

    def __init__(self, system: Path = Path("/sys/fs/cgroup"), process: Path = Path("/proc/self/cgroup")) -> None:
        self._files = [path for path in _counter_files(system, process) if path.is_file()][:1]
        self._at_start = self._count()

    def moved(self) -> bool:
        """Whether the counter has risen since this object was made."""
        return self._count() > self._at_start

    def _count(self) -> int:
        total = 0
        for path in self._files:
            try:
                match = _COUNTER.search(path.read_text("ascii", "replace"))
            except OSError:
                continue
            total += int(match[1]) if match else 0
        return total


def _counter_files(system: Path, process: Path) -> list[Path]:
    """Candidate files, best first; inside a container the group's own path is often not mounted, its root is."""
    try:
        lines = process.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    found: list[Path] = []
    for line in lines:
        _number, controllers, path = [*line.split(":", 2), "", ""][:3]
        inner = path.lstrip("/")
        if "memory" in controllers.split(","):
            root = system / "memory"
            found[:0] = [root / inner / "memory.oom_control", root / "memory.oom_control"]
        elif controllers == "":
            found += [system / inner / "memory.events", system / "memory.events"]
    return found
