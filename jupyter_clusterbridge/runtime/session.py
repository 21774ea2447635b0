"""One recording session: what notebook and job share, from the start of a cell to its end."""

from __future__ import annotations

import datetime
import itertools
import logging
import os
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.model.events import (
    ArtifactDeclared,
    CellEnd,
    CellStart,
    Event,
    MetricLogged,
)
from jupyter_clusterbridge.model.evidence import RowKind, loss_bits
from jupyter_clusterbridge.runtime.environment_note import EnvironmentNote
from jupyter_clusterbridge.runtime.heartbeat import Heartbeat
from jupyter_clusterbridge.runtime.hooks import Hook, hook_classes
from jupyter_clusterbridge.runtime.imports import ImportWatch
from jupyter_clusterbridge.runtime.journal import JournalWriter
from jupyter_clusterbridge.runtime.locations import portable_path
from jupyter_clusterbridge.runtime.rng import rng_fingerprints
from jupyter_clusterbridge.runtime.rows import PendingRow, RowQueue

LossObserver = Callable[[int, float], None]
"""Gets the number of the step to come (from 1) and the loss; may raise a guard's trip."""
StepObserver = Callable[[int], None]
"""Gets the number of steps done."""

_log = logging.getLogger(__name__)


def utc_now() -> str:
    """The time in ISO 8601, UTC, with microseconds."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


class Session:
    """Records one kernel into a journal.

    Nothing that goes wrong in here reaches the user's cell: a hook that fails is turned off and reported by one
    call of ``on_error``. The one exception is a guard's trip, a BaseException that an observer of :meth:`on_loss`
    or :meth:`on_step` raises.

    Args:
        shell: the IPython shell.
        writer: the journal.
        root: the notebook's folder, to which recorded paths are relative.
        on_error: told once for each part that failed.
        heartbeat: beaten at each optimizer step; a job has one.
    """

    def __init__(
        self,
        shell: Any,
        writer: JournalWriter,
        *,
        root: Path,
        on_error: Callable[[Exception], None],
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self.shell = shell
        self.root = Path(os.path.abspath(root))
        self.steps = 0
        self._writer = writer
        self._on_error = on_error
        self._heartbeat = heartbeat
        self._forked = False
        self._runs = itertools.count(1)
        self._run = 0
        self._began = 0.0
        self._read: set[str] = set()
        self._rows = RowQueue(writer)
        self._hooks: list[Hook] = []
        self._installed: list[Hook] = []
        self._watch: ImportWatch | None = None
        self._loss_observers: list[LossObserver] = []
        self._step_observers: list[StepObserver] = []
        self._environment = EnvironmentNote(writer.write)
        _sessions.add(self)

    @property
    def run(self) -> int:
        """Current run number; 0 outside a cell and in a forked child."""
        return self._run

    def install(self) -> None:
        """Turn the evidence hooks on; those of frameworks not imported yet follow at their import."""
        if self._watch is not None:
            return
        self._hooks = [cls(self) for cls in hook_classes()]
        self._watch = ImportWatch({hook.module for hook in self._hooks if hook.module}, self._install_hooks)
        self._watch.start()
        self._install_hooks()

    def uninstall(self) -> None:
        """Turn the evidence hooks off and put back what they replaced; idempotent."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        for hook in reversed(self._installed):
            self._guarded(hook, hook.uninstall)
        self._installed = []
        self._hooks = []

    def on_loss(self, observer: LossObserver) -> None:
        """Tell ``observer`` each loss: at ``backward`` on a CPU, a step later on a GPU."""
        self._loss_observers.append(observer)

    def on_step(self, observer: StepObserver) -> None:
        """Tell ``observer`` each optimizer step, after it."""
        self._step_observers.append(observer)

    def begin_cell(self, cell_id: str | None, source: str, deleted_cells: Sequence[str] = ()) -> int:
        """A cell is about to run; returns its run number, from 1; 0 in a forked child, which records nothing."""
        if self._forked:
            return 0
        run = next(self._runs)
        self._install_hooks()
        event = CellStart(run, cell_id, source, utc_now(), self._rng(), tuple(deleted_cells))
        self._writer.write(event)
        self._run = run
        self._read.clear()
        for hook in tuple(self._installed):
            self._guarded(hook, hook.begin_cell)
        self._began = time.perf_counter()
        return run

    def end_cell(
        self,
        status: str,
        *,
        error: str | None = None,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
        mutates: Sequence[str] = (),
        untracked: Sequence[str] = (),
        values: Mapping[str, str] | None = None,
    ) -> None:
        """The cell has ended: write what the hooks held back, a changed environment, then the end itself.

        Raises a guard's trip when a loss that arrived last trips one; everything has been written then.
        """
        duration = time.perf_counter() - self._began
        run = self.run
        if run == 0:
            return
        trip = self._settle()
        for hook in tuple(self._installed):
            self._guarded(hook, hook.end_cell)
        self._environment.take(run)
        self._writer.flush()
        self._writer.write(
            CellEnd(
                run=run,
                status=status,
                at=utc_now(),
                duration_s=round(duration, 6),
                rng=self._rng(),
                error=error,
                reads=tuple(sorted({*reads, *self._read})),
                writes=tuple(writes),
                mutates=tuple(mutates),
                untracked=tuple(untracked),
                values=dict(values or {}),
            )
        )
        self._run = 0
        if trip is not None:
            raise trip

    def leave_fork(self) -> None:
        """Fall silent for good: this process is a child by fork, and the journal is its parent's."""
        self._forked = True
        self._run = 0

    def log_metric(self, name: str, value: float, step: int | None) -> None:
        """Record a metric's value for the current run."""
        if self.run:
            self._writer.write(MetricLogged(self.run, name, value, step))

    def declare_artifact(self, path: str) -> None:
        """Record that the job must leave a file."""
        if self.run:
            self._writer.write(ArtifactDeclared(self.run, portable_path(path, self.root)))

    def emit(self, event: Event) -> None:
        """Write one event."""
        self._writer.write(event)

    def read(self, location: str) -> None:
        """Count a location among those that the cell reads."""
        self._read.add(location)

    def row(self, kind: RowKind, a: int, b: int) -> None:
        """Write one row of dense evidence for the current run."""
        run = self.run
        if run:
            self._rows.put(kind, run, a, b)

    def defer(self, pending: PendingRow) -> None:
        """Hold a place for a row whose value comes later."""
        self._rows.defer(pending)

    def drain(self) -> None:
        """Write the deferred rows whose values have arrived."""
        self._rows.drain()

    def step_done(self) -> None:
        """Count an optimizer step, write its row, beat and tell observers."""
        self.steps += 1
        self.row(RowKind.STEP, self.steps, 0)
        if self._heartbeat is not None:
            self._heartbeat.beat(self.steps)
        for observer in tuple(self._step_observers):
            self._tell(self._step_observers, observer, self.steps)

    def loss_seen(self, step: int, value: float) -> None:
        """Write a loss row and tell observers."""
        self.row(RowKind.LOSS, loss_bits(value), int(value - value == 0.0))
        self.tell_loss(step, value)

    def tell_loss(self, step: int, value: float) -> None:
        """Tell observers a loss; a guard among them may raise into the user's cell."""
        for observer in tuple(self._loss_observers):
            self._tell(self._loss_observers, observer, step, value)

    def wrote(self, path: str) -> None:
        """Pass a write that no audit event shows to the hook that follows files."""
        for hook in self._installed:
            note = getattr(hook, "note_write", None)
            if note is not None:
                note(path)

    def failed(self, hook: Hook, error: Exception) -> None:
        """Turn a failed hook off and report it once."""
        if hook not in self._hooks:
            return
        self._hooks.remove(hook)
        if hook in self._installed:
            self._installed.remove(hook)
        self._report(error)
        try:
            hook.uninstall()
        except Exception:
            _log.exception("hook %s could not be taken out", hook.name)

    def _install_hooks(self) -> None:
        for hook in tuple(self._hooks):
            if hook not in self._installed and (hook.module is None or _imported(hook.module)):
                self._installed.append(hook)
                self._guarded(hook, hook.install)
                if self._run and hook in self._installed:
                    self._guarded(hook, hook.begin_cell)

    def _settle(self) -> BaseException | None:
        """Wait for deferred rows, now that the cell is over; returns a trip that came with one of them."""
        trip: BaseException | None = None
        while True:
            try:
                self._rows.drain(wait=True)
                return trip
            except Exception as error:
                self._report(error)
            except BaseException as error:
                trip = trip or error

    def _guarded(self, hook: Hook, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self.failed(hook, error)

    def _tell(self, observers: list[Any], observer: Callable[..., None], *arguments: object) -> None:
        try:
            observer(*arguments)
        except Exception as error:
            observers.remove(observer)
            self._report(error)

    def _rng(self) -> dict[str, str]:
        try:
            return rng_fingerprints()
        except Exception:
            _log.exception("random streams could not be read")
            return {}

    def _report(self, error: Exception) -> None:
        try:
            self._on_error(error)
        except Exception:
            _log.exception("the error callback failed")


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _after_fork() -> None:
    for session in tuple(_sessions):
        session.leave_fork()


if hasattr(os, "register_at_fork"):  # asking for the process id at each row would cost more
    os.register_at_fork(after_in_child=_after_fork)


def _imported(module: str) -> bool:
    found = sys.modules.get(module)
    spec = getattr(found, "__spec__", None)
    return found is not None and not getattr(spec, "_initializing", False)
