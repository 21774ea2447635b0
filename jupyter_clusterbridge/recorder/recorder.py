"""Records a live kernel: IPython's events in, a journal out."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from jupyter_clusterbridge.model.events import InterventionSeen, KernelEnd, KernelStart
from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.footprint import Footprint, Locations
from jupyter_clusterbridge.recorder.kernelinfo import (
    cell_id,
    deleted_cells,
    find_notebook,
    kernel_id,
    request_metadata,
    running_info,
)
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.watch import Ended, Scene, Watches
from jupyter_clusterbridge.recorder.watch.memory import memory_limit, oom_kills
from jupyter_clusterbridge.runtime.api import set_sink
from jupyter_clusterbridge.runtime.journal import JournalWriter, journal_folder
from jupyter_clusterbridge.runtime.session import Session, utc_now

_log = logging.getLogger("jupyter_clusterbridge")
_log.addHandler(logging.NullHandler())  # or Python would print our tracebacks into the user's cell
ERROR_LOG = "recorder.log"
F = TypeVar("F", bound=Callable[..., None])


def tell_user(text: str) -> None:
    """One line for the person at the notebook."""
    print(f"clusterbridge: {text}", file=sys.stderr)


def _guarded(method: F) -> F:
    """Keep every exception of ours away from the user's cell: the first one ends the recording."""

    @functools.wraps(method)
    def safe(self: Recorder, *args: Any) -> None:
        try:
            method(self, *args)
            self._settle()
        except Exception as error:
            self._fail(error)

    return cast(F, safe)


class Recorder:
    """Records what a person does in one kernel.

    Args:
        shell: the IPython shell; nothing of it is replaced, two event callbacks are added.
        tell: shows one line to the user.

    Example::

        recorder = Recorder(get_ipython())
        recorder.start(None)
        ...
        recorder.stop()
    """

    def __init__(self, shell: Any, tell: Callable[[str], None] = tell_user) -> None:
        self.shell = shell
        self.notebook: Path | None = None
        """The notebook that is recorded; a stand-in name where nobody tells."""
        self.journal: Path | None = None
        self.active = False
        self._tell = tell
        self._pid = os.getpid()
        self._thread = threading.get_ident()
        self._writer: JournalWriter | None = None
        self._write_error: OSError | None = None
        self._session: Session | None = None
        self._info: Any = None
        self._request: object = None
        self._footprint: Footprint | None = None
        self._watches: Watches | None = None

    def start(self, notebook: Path | None = None) -> None:
        """Begin to record, the running cell included; does nothing when already recording.

        Args:
            notebook: the notebook's file; found from the session when None.
        """
        if self.active:
            return
        self.active = True
        try:
            self._open(notebook)
        except Exception as error:
            self._fail(error)

    def stop(self) -> None:
        """End the recording and leave nothing behind in the shell; does nothing when not recording."""
        if not self.active:
            return
        try:
            if self._info is not None:
                self._end("ok", None)  # what the running cell did so far: its end is out of our sight from here
        except Exception as error:
            self._fail(error)
            return
        self._detach(KernelEnd(utc_now()))

    def _open(self, notebook: Path | None) -> None:
        identity = kernel_id(self.shell)
        self.notebook = notebook if notebook is not None else find_notebook(self.shell, identity)
        self.notebook = Path(os.path.abspath(self.notebook))
        self.journal = _free_name(journal_folder(self.notebook), identity)
        self._writer = JournalWriter(self.journal, self._write_failed)
        self._writer.write(
            KernelStart(
                kernel_id=identity,
                role="notebook",
                python=platform.python_version(),
                at=utc_now(),
                notebook=self.notebook.name,
                memory_bytes=memory_limit(),
                oom_kills=oom_kills(),
            )
        )
        if self._write_error is not None:
            self._settle()
            return
        self._session = Session(self.shell, self._writer, root=self.notebook.parent, on_error=self._hook_failed)
        self._session.install()
        set_sink(self._session)
        self._watches = Watches(self._scene(self._session))
        self._watches.start()
        self.shell.events.register("pre_run_cell", self._before)
        self.shell.events.register("post_run_cell", self._after)
        atexit.register(self._at_exit)
        running = running_info(self.shell)
        if running is not None:
            self._before(running)

    def _scene(self, session: Session) -> Scene:
        assert self.journal is not None
        return Scene(
            shell=self.shell,
            journal=self.journal,
            root=session.root,
            emit=session.emit,
            intervene=self._intervene,
            steps=lambda: session.steps,
            failed=self._hook_failed,
        )

    @_guarded
    def _before(self, info: Any) -> None:
        if info.silent or not info.store_history or self._session is None:
            return
        if threading.get_ident() != self._thread:
            return  # a subshell: its cells run beside the notebook's
        metadata = request_metadata(self.shell)
        request = self._request_id()
        if self._info is not None:
            if request is None or request == self._request:
                return  # a cell run from within a cell
            self._end("interrupted", None)
        self._info, self._request = info, request
        source = str(info.raw_cell)
        if self._watches is not None:
            self._watches.before_cell()
        run = self._session.begin_cell(cell_id(info, metadata), source, deleted_cells(metadata))
        if self._watches is not None and run:
            self._watches.cell_begins(run, source)
        self._footprint = Footprint(analyse_cell(source), self.shell.user_ns)

    @_guarded
    def _after(self, result: Any) -> None:
        if self._info is None or (result is not None and result.info is not self._info):
            return
        raised = (result.error_before_exec or result.error_in_exec) if result is not None else None
        self._end(*_status(result, self.shell), raised)

    def _end(self, status: str, error: str | None, raised: BaseException | None = None) -> None:
        footprint, self._footprint, self._info = self._footprint, None, None
        found = footprint.finish(status == "ok") if footprint is not None else Locations()
        if self._session is None:
            return
        self._session.end_cell(
            status,
            error=error,
            reads=found.reads,
            writes=found.writes,
            mutates=found.mutates,
            untracked=found.untracked,
            values=found.values,
        )
        if self._watches is not None:
            self._watches.end_cell(Ended(status, raised))

    def _intervene(self, kind: InterventionKind, message: str, remedy: str) -> None:
        if self._session is None or not self._session.run:
            return
        event = Intervention(kind, cell_id(self._info, request_metadata(self.shell)), message, remedy, utc_now())
        self._session.emit(InterventionSeen(self._session.run, event))

    def _request_id(self) -> object:
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None or not hasattr(kernel, "get_parent"):
            return None
        return kernel.get_parent("shell").get("header", {}).get("msg_id")

    # ends

    def _at_exit(self) -> None:
        if os.getpid() == self._pid and self.active:
            self._detach(KernelEnd(utc_now()))  # a cell that runs now does not come to its end

    def _detach(self, end: KernelEnd | None) -> None:
        self.active = False
        self._info = self._footprint = None
        for name, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in self.shell.events.callbacks[name]:
                self.shell.events.unregister(name, callback)
        watches, self._watches = self._watches, None
        if watches is not None:
            watches.stop()
        set_sink(None)
        session, self._session = self._session, None
        if session is not None:
            session.uninstall()
        writer, self._writer = self._writer, None
        if writer is not None:
            if end is not None:
                writer.write(end)
            writer.close()
        atexit.unregister(self._at_exit)

    def _write_failed(self, error: OSError) -> None:
        # called with the writer's lock held, perhaps from a hook in the middle of a cell: act at the next event
        self._write_error = error

    def _settle(self) -> None:
        """Stop after a failed write."""
        error, self._write_error = self._write_error, None
        if error is None:
            return
        _log.warning("recording stopped: %s", error)
        self._stop_quietly()
        place = self.journal.parent if self.journal is not None else "the journal"
        reason = error.strerror or str(error)
        self._tell(f"recording stopped, {place} cannot be written ({reason}); your cells run as before")

    def _hook_failed(self, error: Exception) -> None:
        _log.error("a part of the recording was turned off: %s: %s", type(error).__name__, error, exc_info=error)
        self._tell(f"a part of the recording was turned off after an error of its own ({type(error).__name__})")

    def _fail(self, error: Exception) -> None:
        if not self.active:
            return
        _log.error("recording stopped after an error of our own", exc_info=error)
        self._stop_quietly()
        name, where = type(error).__name__, self._write_log(error)
        self._tell(f"recording stopped after an error of its own ({name}){where}; your cells run as before")

    def _stop_quietly(self) -> None:
        try:
            self._detach(None)
        except Exception:
            _log.exception("the recorder could not be taken out in full")

    def _write_log(self, error: Exception) -> str:
        if self.journal is None:
            return ""
        path = self.journal.parent / ERROR_LOG
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            with path.open("a", encoding="utf-8") as stream:
                stream.write(f"{utc_now()}\n{text}\n")
        except OSError:
            _log.exception("the error could not be logged in %s", path)
            return ""
        return f", see {path}"


def _free_name(folder: Path, identity: str) -> Path:
    """A journal's path; a second recording in the same kernel gets a file of its own."""
    path = folder / f"{identity}.jsonl"
    number = 2
    while path.exists():
        path = folder / f"{identity}.{number}.jsonl"
        number += 1
    return path


def _status(result: Any, shell: Any) -> tuple[str, str | None]:
    """Status of a run (``ok``, ``error``, ``interrupted`` or ``exit``) and the exception's class name."""
    if result is None:
        return "interrupted", None
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, SystemExit):
        return "exit", "SystemExit"
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "CancelledError":
        return "interrupted", type(error).__name__
    if error is not None:
        return "error", type(error).__name__
    if getattr(shell, "exit_now", False):
        return "exit", "SystemExit"
    return "ok", None
