"""Restarts of the kernel: asked for, or because it died, and at how much memory."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import psutil

from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run
from jupyter_clusterbridge.recorder.watch.memory import oom_kills
from jupyter_clusterbridge.recorder.watch.pulse import read_pulse, this_place

_PROCESS = re.compile(r"-(?P<created_ms>[0-9a-f]+)-(?P<pid>\d+)$")
_SILENT_S = 3.0
"""A kernel gives a sign each second."""
_LARGE = 0.3
"""Part of all memory that a kernel must have had before a kill for want of memory is taken for its own."""


def restarts(past: Past) -> Iterator[Intervention]:
    """One for each change of the kernel that matters to the file, and one where the newest has died."""
    for number in past.counted:
        if number:
            yield _restart(past, number)
    newest = past.kernels[-1]
    dead = died_in(past, newest)
    if dead is not None:
        message, remedy = _how(past, newest, dead), _remedy(past, newest, dead)
        yield Intervention(InterventionKind.KERNEL_RESTART, past.cell_id(dead), message, remedy, dead.at)


def died_in(past: Past, kernel: Kernel) -> Run | None:
    """The run in which a kernel died; None when it lives, ended in order, or died between cells."""
    last = kernel.runs[-1]
    if last.status != "open" or kernel.ended:
        return None
    pulse = read_pulse(kernel.journal) if kernel.journal is not None else None
    if pulse is None:
        return None  # it gave no signs, or the recording was stopped: nothing is known
    if kernel is past.kernels[-1] and (pulse.place != this_place() or time.time() - pulse.at < _SILENT_S):
        return None  # it may run on another machine
    return last if pulse.place != this_place() or _process_gone(kernel.id) else None


def _process_gone(identity: str) -> bool:
    match = _PROCESS.search(identity)
    if match is None:
        return False
    try:
        process = psutil.Process(int(match["pid"]))
        created = int(process.create_time() * 1000)
        return abs(created - int(match["created_ms"], 16)) > 2000 or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


def _restart(past: Past, number: int) -> Intervention:
    kernel, before = past.kernels[number], past.kernels[number - 1]
    older = [h.position for h in past.histories if h.last is not None and h.last.kernel < number]
    dead = died_in(past, before)
    if dead is not None:
        message, cell_id = _how(past, before, dead), past.cell_id(dead)
        remedy = _remedy(past, before, dead)
    else:
        ran = len({run.cell for run in before.runs})
        message = f"the kernel was restarted, or a second one was started, after {ran} cells had run"
        cell_id, remedy = None, f"{NOTHING}: every cell that was run has run again since"
    if older:
        some = ", ".join(str(past.cells[position].index) for position in older[:8])
        stale = f"cells last run before that: {some}; run all cells from the top once more"
        remedy = stale if remedy.startswith(NOTHING) else f"{remedy}; {stale}"
    return Intervention(InterventionKind.KERNEL_RESTART, cell_id, message, remedy, kernel.at)


def _how(past: Past, kernel: Kernel, run: Run) -> str:
    pulse = read_pulse(kernel.journal) if kernel.journal is not None else None
    size = f" at {pulse.peak_bytes / 1e9:.1f} GB" if pulse is not None else ""
    if out_of_memory(past, kernel):
        return f"the kernel died in {past.name(run)}{size}: the system ended it, as no memory was left"
    return f"the kernel died in {past.name(run)}{size}, or was killed there"


def _remedy(past: Past, kernel: Kernel, run: Run) -> str:
    if out_of_memory(past, kernel):
        return "a job dies there as well: let the cell need less memory, or ask for a job with more"
    later = past.histories[run.cell].last if run.cell is not None else None
    if run.cell is None or (later is not None and later.complete and later.kernel >= run.kernel):
        return (
            f"{NOTHING}: the cell ran through later"
            if run.cell is not None
            else f"{NOTHING}: it is not in the file"
        )
    return "run it again: a job has to get through it"


def out_of_memory(past: Past, kernel: Kernel) -> bool:
    """Whether a kernel that died was ended by the system for want of memory: its counter rose meanwhile."""
    pulse = read_pulse(kernel.journal) if kernel.journal is not None else None
    if pulse is None or kernel.start is None or kernel.start.oom_kills is None:
        return False
    number = past.kernels.index(kernel)
    after = past.kernels[number + 1].start if number + 1 < len(past.kernels) else None
    kills = after.oom_kills if after is not None else oom_kills()
    large = pulse.peak_bytes >= _LARGE * (kernel.start.memory_bytes or 0)
    return kills is not None and kills > kernel.start.oom_kills and large
