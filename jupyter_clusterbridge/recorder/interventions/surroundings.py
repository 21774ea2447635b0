"""The environment and the working directory, changed by what a job will not run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_clusterbridge.model.events import OutsideChange
from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.runs import Kernel, Run

_NO_CELL_SINCE = f"{NOTHING}: no cell has run since"
_GOES = re.compile(r"\bchdir\b|\bcd\b|\bpushd\b")
_KINDS = {"env": InterventionKind.ENV_CHANGE, "cwd": InterventionKind.CWD_CHANGE}


def surroundings(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Changes between cells, and those of code that the saved file no longer has."""
    last: dict[str, Run] = {}
    for one in kernel.runs:
        last.update({location: one for location in one.writes if location.partition(":")[0] in _KINDS})
    for run, event in kernel.noted:
        if isinstance(event, OutsideChange) and event.location.partition(":")[0] in _KINDS:
            yield _between(past, kernel, run, event)
    for location, one in sorted(last.items()):
        if _text_is_gone(past, one, location):
            yield _by_lost_text(past, kernel, one, location)


def _between(past: Past, kernel: Kernel, run: Run | None, event: OutsideChange) -> Intervention:
    kind, what = _KINDS[event.location.partition(":")[0]], _describe(event.location)
    place = f"after {past.name(run)}" if run is not None else "before the first cell"
    message = f"{what} was changed {place} and in no cell: by a widget's callback, a thread or a debugger"
    remedy = _remedy(event.location) if _matters(past, kernel, run) else _NO_CELL_SINCE
    return Intervention(kind, None, message, remedy, event.at)


def _matters(past: Past, kernel: Kernel, after: Run | None) -> bool:
    """Whether a cell of the file has run since: it can have found what was changed."""
    start = kernel.runs.index(after) + 1 if after is not None else 0
    later = [one for one in kernel.runs[start:] if past.is_last(one)]
    return any(one is not past.newest or one.status != "open" for one in later)


def _text_is_gone(past: Past, run: Run, location: str) -> bool:
    """Whether a clean run of the saved file would not make the change that a run made."""
    if run.cell is None:
        return True
    saved = past.cells[run.cell].source
    kind, _, name = location.partition(":")
    if run.key == analyse_cell(saved).key:
        return False
    return name not in saved if kind == "env" else not _GOES.search(saved)


def _by_lost_text(past: Past, kernel: Kernel, run: Run, location: str) -> Intervention:
    who = past.name(run) if run.cell is None else f"{past.name(run)} before it was edited"
    message = f"{_describe(location)} was changed by {who}, and stays so in this kernel"
    kind = _KINDS[location.partition(":")[0]]
    remedy = _remedy(location) if _matters(past, kernel, run) else _NO_CELL_SINCE
    return Intervention(kind, past.cell_id(run), message, remedy, run.at)


def _describe(location: str) -> str:
    kind, _, name = location.partition(":")
    return "the working directory" if kind == "cwd" else f"the environment variable `{name}`"


def _remedy(location: str) -> str:
    if location.startswith("cwd:"):
        return "write paths from the notebook's folder, where a job begins, or change it in a cell of the file"
    return "set it in a cell at the top, or give it to the job"
