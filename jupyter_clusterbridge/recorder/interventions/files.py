"""Data files that somebody else changed after a cell had read them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.events import FileRead, FileWrite, ModuleSource
from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.runs import Run
from jupyter_clusterbridge.runtime.file_digests import MAX_FILE

_Read = tuple[Run, FileRead]


def changed_files(past: Past) -> Iterator[Intervention]:
    """Files of which two cells read different content, or that are another one on disk than a cell read."""
    yield from _changed_by_hand(past)
    for path, reads in sorted(_reads(past).items()):
        first, last = reads[0], reads[-1]
        other = next((one for one in reads[1:] if _differs(first[1], one[1])), None)
        if other is not None:
            same = [run.cell for run, read in reads if not _differs(first[1], read) and run.cell is not None]
            cells = past.named(same)
            between = f"between {past.name(first[0])} and {past.name(other[0])}"
            message = f"the file `{path}` was changed {between}, by no cell"
            remedy = f"run {cells} again, so that all cells read the same file: a job has one"
            yield Intervention(InterventionKind.FILE_CHANGED, past.cell_id(first[0]), message, remedy, other[0].at)
        elif _changed_on_disk(past, path, last):
            cells = past.named([run.cell for run, _ in reads if run.cell is not None])
            message = f"the file `{path}` was changed after {cells} had read it, by no cell"
            remedy = (
                f"run {cells} and what builds on it again, or put the file back: a job reads what is there now"
            )
            yield Intervention(InterventionKind.FILE_CHANGED, past.cell_id(last[0]), message, remedy, last[0].at)


def _changed_by_hand(past: Past) -> Iterator[Intervention]:
    """Files that a cell wrote, and another found with other content."""
    for number in past.counted:
        written: dict[str, tuple[Run, str | None]] = {}
        for run, event in past.kernels[number].noted:
            if isinstance(event, FileWrite) and run is not None:
                written[event.path] = (run, event.digest)
            elif isinstance(event, FileRead) and run is not None and event.own and past.is_last(run):
                writer, digest = written.get(event.path, (run, None))
                if None in (digest, event.digest) or digest == event.digest or not _by_nobody(past, event):
                    continue
                between = f"after {past.name(writer)} had written it and before {past.name(run)} read it"
                message = f"the file `{event.path}` was changed {between}, by no cell"
                remedy = f"let {past.name(writer)} write what it is to hold: a job writes it anew"
                yield Intervention(InterventionKind.FILE_CHANGED, past.cell_id(run), message, remedy, run.at)


def _by_nobody(past: Past, read: FileRead) -> bool:
    """Whether the content that a cell found, which must still be there, was written while no cell ran.

    A command of a shell writes unseen; the time of change is all that tells of it.
    """
    place = place_of(past.folder, read.path)
    try:
        if place is None or digest_file(place) != read.digest:
            return False
        return not any(_during(run, place.stat().st_mtime) for run in _runs(past))
    except OSError:
        return False


def place_of(folder: Path | None, path: str) -> Path | None:
    """Where a recorded path lies on this machine; None when nothing is to be looked at."""
    if folder is None:
        return None
    return Path(path).expanduser() if path.startswith(("/", "~")) else folder / path


def _reads(past: Past) -> dict[str, list[_Read]]:
    """What the last runs of cells read, by path; without what the notebook writes itself, and its modules."""
    noted = [pair for kernel in past.kernels for pair in kernel.noted]
    own = {event.path for _, event in noted if isinstance(event, ModuleSource)}
    own |= {
        loc[5:] for kernel in past.kernels for run in kernel.runs for loc in run.writes if loc.startswith("file:")
    }
    found: dict[str, list[_Read]] = {}
    for run, event in noted:
        if not isinstance(event, FileRead) or run is None or event.own or event.path in own:
            continue
        if past.is_last(run):
            found.setdefault(event.path, []).append((run, event))
    return found


def _differs(one: FileRead, other: FileRead) -> bool:
    if one.digest is None or other.digest is None:
        return one.size != other.size
    return one.digest != other.digest


def _changed_on_disk(past: Past, path: str, read: _Read) -> bool:
    place = place_of(past.folder, path)
    if place is None:
        return False
    run, event = read
    try:
        status = place.stat()
        if status.st_mtime <= _seconds(run.at) or any(_during(other, status.st_mtime) for other in _runs(past)):
            return False  # as old as it was, or written by a cell through a command of its own
        if status.st_size != event.size:
            return True
        return event.digest is not None and status.st_size <= MAX_FILE and digest_file(place) != event.digest
    except OSError:
        return False


def _runs(past: Past) -> Iterator[Run]:
    return (run for kernel in past.kernels for run in kernel.runs)


def _during(run: Run, at_s: float) -> bool:
    begin = _seconds(run.at)
    return (run.status == "open" and at_s >= begin) or begin - 0.02 <= at_s <= begin + run.duration_s + 0.02


def _seconds(at: str) -> float:
    return datetime.datetime.fromisoformat(at).timestamp()
