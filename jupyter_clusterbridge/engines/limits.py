"""Limits of a job that runs as a process of this machine: control groups where we may write them."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.resources import Resources

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000


@dataclass(frozen=True)
class Group:
    """One control group that a run makes for itself."""

    folder: str
    values: tuple[tuple[str, str], ...]
    """File names and what is written to them, in order."""


@dataclass(frozen=True)
class Limits:
    """How the limits of a run are held; rendered before anything is made."""

    groups: tuple[Group, ...] = ()
    address_space_bytes: int | None = None
    affinity: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def shell(self) -> str | None:
        """Shell text that puts its own process under the limits and becomes the job; None when there are none."""
        steps = [f"echo $$ > {shlex.quote(group.folder)}/cgroup.procs" for group in self.groups]
        if self.address_space_bytes is not None:
            steps.append(f"ulimit -v {self.address_space_bytes // 1024}")
        return " && ".join([*steps, 'exec "$@"']) if steps else None


def choose_limits(resources: Resources, run_id: str) -> Limits:
    """Decide how to hold memory and CPUs on this machine; changes nothing."""
    groups: list[Group] = []
    notes: list[str] = []
    address_space: int | None = None
    affinity = _affinity(resources.cpus)
    if resources.memory_bytes is not None:
        group = _memory_group(resources.memory_bytes, run_id)
        if group is not None:
            groups.append(group)
            notes.append("memory is limited by a control group")
        else:
            address_space = resources.memory_bytes
            notes.append("no control group can be written here: memory is limited by each process's address space")
    if resources.cpus is not None:
        quota = _cpu_group(resources.cpus, run_id, groups)
        how = "a control group" if quota else "CPU affinity alone, in whole CPUs"
        notes.append(f"CPUs are limited by {how}")
    if resources.shm_bytes is not None:
        notes.append(
            "the size of shared memory is this machine's own; --shm-size has no effect on the local engine"
        )
    return Limits(tuple(groups), address_space, affinity, tuple(notes))


def _affinity(cpus: float | None) -> tuple[int, ...]:
    if cpus is None or not hasattr(os, "sched_getaffinity"):
        return ()
    return tuple(sorted(os.sched_getaffinity(0))[: max(1, math.ceil(cpus))])


def _memory_group(limit: int, run_id: str) -> Group | None:
    name = f"clusterbridge-{run_id}"
    if (parent := _v1_parent("memory", "memory.limit_in_bytes")) is not None:
        values = [("memory.limit_in_bytes", str(limit))]
        if (parent / "memory.memsw.limit_in_bytes").exists():
            values.append(("memory.memsw.limit_in_bytes", str(limit)))
        return Group(str(parent / name), tuple(values))
    if (parent := _v2_parent("memory")) is not None:
        return Group(str(parent / name), (("memory.max", str(limit)), ("memory.swap.max", "0")))
    return None


def _cpu_group(cpus: float, run_id: str, groups: list[Group]) -> bool:
    """Add a CPU quota to the groups; in the unified hierarchy to the group that is there already."""
    name = f"clusterbridge-{run_id}"
    quota = max(1000, int(cpus * _PERIOD_US))
    if (parent := _v1_parent("cpu", "cpu.cfs_quota_us")) is not None:
        values = (("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", str(quota)))
        groups.append(Group(str(parent / name), values))
        return True
    if (parent := _v2_parent("cpu")) is not None:
        value = ("cpu.max", f"{quota} {_PERIOD_US}")
        folder = str(parent / name)
        old = next((group for group in groups if group.folder == folder), None)
        if old is not None:
            groups.remove(old)
        groups.append(Group(folder, (*(old.values if old else ()), value)))
        return True
    return False


def _v1_parent(controller: str, probe: str) -> Path | None:
    """Our own group in the hierarchy of a controller, or its root, when we may make groups there."""
    root = _ROOT / controller
    inside = _own_groups().get(controller, "/").lstrip("/")
    for folder in (root / inside, root):
        if (folder / "cgroup.procs").exists() and os.access(folder, os.W_OK):
            # the root of a hierarchy has no limit of its own, so its groups are asked
            groups = list(_children(folder))
            known = not groups or any((item / probe).exists() for item in (folder, *groups))
            return folder if known else None
    return None


def _children(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from (item for item in folder.iterdir() if item.is_dir())


def _v2_parent(controller: str) -> Path | None:
    """The root of the unified hierarchy when we may make groups there that have this controller."""
    try:
        enabled = (_ROOT / "cgroup.subtree_control").read_text().split()
    except OSError:
        return None
    return _ROOT if controller in enabled and os.access(_ROOT, os.W_OK) else None


def _own_groups() -> dict[str, str]:
    groups: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def make_groups(limits: Limits) -> None:
    """Make the groups and set their limits.

    Raises:
        OSError: the kernel refuses; nothing is left behind.
    """
    try:
        for group in limits.groups:
            Path(group.folder).mkdir(exist_ok=True)
            for name, value in group.values:
                (Path(group.folder) / name).write_text(value)
    except OSError:
        remove_groups(limits)
        raise


def remove_groups(limits: Limits, patience_s: float = 5.0) -> None:
    """Remove the groups; what still runs in them is killed, for nothing of a run outlives it."""
    deadline = time.monotonic() + patience_s
    for group in limits.groups:
        folder = Path(group.folder)
        while folder.exists() and time.monotonic() < deadline:
            for pid in _members(folder):
                with contextlib.suppress(OSError):
                    os.kill(pid, 9)
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.05)


def _members(folder: Path) -> list[int]:
    try:
        return [int(line) for line in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


@dataclass(frozen=True)
class MemoryEnd:
    """What the control group says at the end of a run."""

    killed: bool
    """Whether the kernel killed a process of the run for memory."""
    peak_bytes: int | None


def read_memory(limits: Limits) -> MemoryEnd:
    """Peak and kills, from the group of either version; nothing is known without a group."""
    for group in limits.groups:
        folder = Path(group.folder)
        kills = _counter(folder, "memory.oom_control") + _counter(folder, "memory.events")
        peak = _number(folder / "memory.max_usage_in_bytes") or _number(folder / "memory.peak")
        if peak is not None or kills:
            return MemoryEnd(kills > 0, peak)
    return MemoryEnd(False, None)


def _counter(folder: Path, name: str) -> int:
    try:
        pairs = dict(line.split() for line in (folder / name).read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(pairs.get("oom_kill", "0"))


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
