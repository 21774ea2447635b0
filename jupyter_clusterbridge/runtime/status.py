"""``status.json`` of a run directory: written at once, and true also when nobody was left to write it."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import psutil

from jupyter_clusterbridge.model.canonical import pretty_json
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.errors import ClusterBridgeError, DocumentInvalid, RunInvalid
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus

STATUS_FILE = "status.json"
SUPERVISOR_FILE = "supervisor.json"
_KILLED = "the supervisor was killed and could not finish the run"
_CLOCK_SLACK_S = 2.0


@dataclass(frozen=True)
class ProcessMark:
    """What tells one process from every other one, also after its id was given to another."""

    pid: int
    started: float
    """Start of the process, seconds since the epoch."""
    boot: str
    """Changes with every boot of the machine."""
    namespace: str
    """The process-id namespace; ids of other namespaces (containers) mean nothing here."""

    @classmethod
    def of(cls, pid: int) -> ProcessMark:
        """The mark of a living process."""
        return cls(pid, psutil.Process(pid).create_time(), _boot(), _namespace())

    def is_foreign(self) -> bool:
        """Whether the process lives where this one cannot see it: another container or machine."""
        return (self.boot, self.namespace) != (_boot(), _namespace())

    def is_alive(self) -> bool:
        """Whether the very same process still runs; only meaningful when not foreign."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < _CLOCK_SLACK_S
            return same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return f"{psutil.boot_time():.0f}"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def write_status(run_dir: Path, status: RunStatus) -> None:
    """Write ``status.json``; a reader sees the old or the new content, never a part.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    write_atomic(run_dir / STATUS_FILE, pretty_json(to_json(status)))


def mark_supervisor(run_dir: Path) -> None:
    """Leave the mark of this process, so that a later look can tell whether it still lives."""
    mark = ProcessMark.of(os.getpid())
    write_atomic(run_dir / "record" / SUPERVISOR_FILE, pretty_json(to_json(mark)))


def read_status(run_dir: Path) -> RunStatus:
    """Read the status of a run; a run whose supervisor is gone is written down as failed first.

    A status from another container or machine is left alone: only its engine knows what became of it.

    Raises:
        RunInvalid: the folder has no readable status.
        DocumentTooNew: the status was written by a newer version.
    """
    status = _stored(run_dir)
    if status.state is not RunState.RUNNING:
        return status
    mark = _mark(run_dir)
    if mark is None or mark.is_foreign() or mark.is_alive():
        return status
    # the supervisor may have written its end between the two looks
    status = _stored(run_dir)
    if status.state is not RunState.RUNNING:
        return status
    return finish_killed(run_dir, reason=_KILLED, exit_code=JobExit.SUPERVISOR_KILLED, state=RunState.FAILED)


def finish_killed(
    run_dir: Path,
    *,
    reason: str,
    exit_code: int = JobExit.SUPERVISOR_KILLED,
    state: RunState = RunState.FAILED,
) -> RunStatus:
    """Write the end of a run whose supervisor could not; an end that stands already is kept.

    Args:
        run_dir: the run directory; where it holds no status yet, one is made.
        reason: what happened, one sentence.
        exit_code: what the run counts as.
        state: a final state.

    Returns:
        The status that stands now, with the step and cell that were last seen. When the folder cannot be
        written (a read-only copy), the status is returned all the same.
    """
    try:
        last = _stored(run_dir)
    except RunInvalid:
        last = RunStatus(RunState.RUNNING, None, "")
    if last.state is not RunState.RUNNING:
        return last
    ended = replace(last, state=state, exit_code=int(exit_code), reason=reason, supervisor_pid=None)
    with contextlib.suppress(ClusterBridgeError):
        write_status(run_dir, ended)
    return ended


def _stored(run_dir: Path) -> RunStatus:
    path = run_dir / STATUS_FILE
    try:
        return from_json(RunStatus, json.loads(path.read_bytes()), STATUS_FILE)
    except OSError as error:
        raise RunInvalid(f"{run_dir}: has no status of a run ({error.strerror})") from None
    except (ValueError, DocumentInvalid) as error:
        raise RunInvalid(f"{path}: cannot be understood ({error})") from None


def _mark(run_dir: Path) -> ProcessMark | None:
    try:
        data = json.loads((run_dir / "record" / SUPERVISOR_FILE).read_bytes())
        return from_json(ProcessMark, cast("dict[str, object]", data), SUPERVISOR_FILE)
    except (OSError, ValueError, DocumentInvalid):
        return None
