"""Recording inside a job's kernel, started by the supervisor before the first cell."""

from __future__ import annotations

import atexit
import json
import logging
import os
import platform
import uuid
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.model.events import KernelEnd, KernelStart
from jupyter_clusterbridge.runtime import api
from jupyter_clusterbridge.runtime.heartbeat import HEARTBEAT_FILE, Heartbeat
from jupyter_clusterbridge.runtime.journal import JournalWriter
from jupyter_clusterbridge.runtime.session import Session, utc_now

JOURNAL_FILE = "journal.jsonl"
_log = logging.getLogger(__name__)


class JobRecording:
    """Drives a session from IPython's events."""

    def __init__(self, shell: Any, session: Session, writer: JournalWriter) -> None:
        self._shell = shell
        self._writer = writer
        self._pid = os.getpid()
        self._info: Any = None
        self.session = session

    def start(self) -> None:
        """Register with the shell and install the hooks."""
        self._shell.events.register("pre_run_cell", self._before)
        self._shell.events.register("post_run_cell", self._after)
        self.session.install()
        api.set_sink(self.session)
        atexit.register(self.finish)

    def stop(self) -> None:
        """Undo what :meth:`start` did; the journal stays open."""
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in self._shell.events.callbacks[event]:
                self._shell.events.unregister(event, callback)
        self.session.uninstall()
        api.set_sink(None)
        atexit.unregister(self.finish)

    def finish(self) -> None:
        """Write the end of the kernel; a forked child does nothing."""
        if os.getpid() == self._pid:
            self._writer.write(KernelEnd(utc_now()))
            self._writer.close()

    def _before(self, info: Any) -> None:
        # a cell run from within a cell, as %%capture does, is a part of it
        if not (info.silent or not info.store_history or self.session.run):
            self._info = info
            self.session.begin_cell(getattr(info, "cell_id", None), info.raw_cell)

    def _after(self, result: Any) -> None:
        if self.session.run and result.info is self._info:
            status, error = run_status(result, self._shell)
            try:
                self.session.end_cell(status, error=error)
            except BaseException as trip:
                # a loss that came late from a GPU: the run has ended, so its result must carry the trip
                result.error_in_exec = result.error_in_exec or trip


def run_status(result: Any, shell: Any) -> tuple[str, str | None]:
    """Status of a finished run (``ok``, ``error``, ``interrupted`` or ``exit``) and its exception's class name."""
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, SystemExit) or (error is None and getattr(shell, "exit_now", False)):
        return "exit", "SystemExit"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "KeyboardInterrupt"
    if error is not None or not result.success:
        return "error", type(error).__name__ if error is not None else None
    return "ok", None


def start_job_recording(shell: Any) -> JobRecording:
    """Start recording in a job's kernel, as the variable ``CLUSTERBRIDGE_JOB`` says.

    The variable holds a JSON object: ``record_dir``, ``role``, ``root`` (the notebook's folder) and ``notebook``
    (its file name).
    """
    job = json.loads(os.environ[api.JOB_VARIABLE])
    folder = Path(job["record_dir"])
    writer = JournalWriter(folder / JOURNAL_FILE, _journal_failed)
    writer.write(
        KernelStart(
            kernel_id=uuid.uuid4().hex,
            role=job["role"],
            python=platform.python_version(),
            at=utc_now(),
            notebook=job.get("notebook"),
        )
    )
    heartbeat = Heartbeat(folder / HEARTBEAT_FILE)
    session = Session(shell, writer, root=Path(job["root"]), on_error=_hook_failed, heartbeat=heartbeat)
    recording = JobRecording(shell, session, writer)
    recording.start()
    return recording


def _journal_failed(error: OSError) -> None:
    _log.error("recording stopped: %s", error)


def _hook_failed(error: Exception) -> None:
    _log.error("a part of the recording was turned off: %s: %s", type(error).__name__, error, exc_info=error)
