"""What the supervisor looks at while cells run: steps, guards, the notebook's file, dead children."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import psutil

from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.run import GuardAction, GuardTrip, RunState, RunStatus
from jupyter_clusterbridge.runtime.exits import End
from jupyter_clusterbridge.runtime.guard import Guard, Observation
from jupyter_clusterbridge.runtime.guarding import (
    EXIT_CODES,
    SUPERVISOR_GUARDS,
    append_trip,
    make_guards,
    stopping_trip,
)
from jupyter_clusterbridge.runtime.heartbeat import HEARTBEAT_FILE, read_heartbeat
from jupyter_clusterbridge.runtime.job import Job
from jupyter_clusterbridge.runtime.kernel_process import KernelProcess
from jupyter_clusterbridge.runtime.notebook import SAVE_INTERVAL_S, LiveNotebook
from jupyter_clusterbridge.runtime.prelude import STACKS_FILE
from jupyter_clusterbridge.runtime.status import write_status

TICK_S = 0.5
_STATUS_INTERVAL_S = 5.0
_DUMP_PAUSE_S = 1.0


class Watch:
    """Looks twice a second, beside the running cell.

    Args:
        job: the job.
        live: its notebook.
        kernel: its kernel.
        stop: asks for the end of the job; may be called more than once.
        log: takes one line of text.
    """

    def __init__(
        self,
        job: Job,
        live: LiveNotebook,
        kernel: KernelProcess,
        stop: Callable[[End], None],
        log: Callable[[str], None],
    ) -> None:
        self._job = job
        self._live = live
        self._kernel = kernel
        self._stop = stop
        self._log = log
        self._guards: tuple[Guard, ...] = make_guards(SUPERVISOR_GUARDS, job.policies)
        self._cell: int | None = None
        self._status_at = 0.0
        self._shown: RunStatus | None = None
        self._tripped_at: float | None = None
        self._complained = False

    def begin_cell(self, cell_index: int) -> None:
        """A cell is about to run."""
        self._cell = cell_index
        for guard in self._guards:
            guard.begin_cell()
        self._show_status()

    def end_cell(self) -> None:
        """No cell runs now."""
        self._cell = None

    def step(self) -> int | None:
        """Optimizer steps so far; None before the first."""
        beat = read_heartbeat(self._job.record_dir / HEARTBEAT_FILE)
        return beat.step if beat is not None and beat.step else None

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(TICK_S)
            self.save()
            reap_strangers(self._kernel.own_pids)
            if self._cell is None:
                continue
            if time.monotonic() - self._status_at > _STATUS_INTERVAL_S:
                self._show_status()
            self._enforce_trips()
            await self._ask_guards()

    def save(self, interval_s: float = SAVE_INTERVAL_S) -> None:
        """Save the notebook when due; a full disk is told once and does not stop the training."""
        try:
            self._live.save_when_due(interval_s)
            self._complained = False
        except ClusterBridgeError as error:
            if not self._complained:
                self._log(f"the executed notebook cannot be saved just now: {error}")
            self._complained = True

    def _show_status(self) -> None:
        self._status_at = time.monotonic()
        status = running_status(self._cell, self.step())
        if status == self._shown:
            return
        try:
            write_status(self._job.run_dir, status)
            self._shown = status
        except ClusterBridgeError as error:
            self._log(f"the status cannot be written just now: {error}")

    def _enforce_trips(self) -> None:
        """A cell may swallow the exception of a guard; the file of trips is what counts."""
        trip = stopping_trip(self._job.run_dir)
        if trip is None:
            return
        if self._tripped_at is None:
            self._tripped_at = time.monotonic()
        elif time.monotonic() - self._tripped_at > self._job.grace_s:
            self._stop(trip_end(trip, self._cell))

    async def _ask_guards(self) -> None:
        seen = Observation(at=time.monotonic(), step=self.step() or 0)
        for guard in self._guards:
            trip = guard.observe(seen)
            if trip is not None:
                await self._act(trip)

    async def _act(self, trip: GuardTrip) -> None:
        stacks = self._job.run_dir / STACKS_FILE
        if hasattr(signal, "SIGUSR2"):
            self._kernel.signal(signal.SIGUSR2)
            await asyncio.sleep(_DUMP_PAUSE_S)
        if stacks.exists() and stacks.stat().st_size:
            trip = replace(trip, message=f"{trip.message}; stacks of all threads in {STACKS_FILE}")
        try:
            append_trip(self._job.run_dir, trip)
        except OSError as error:
            self._log(f"guards.jsonl cannot be written ({error.strerror})")
        self._log(f"guard {trip.guard} ({trip.action}): {trip.message}")
        if trip.action == GuardAction.STOP.value:
            self._stop(trip_end(trip, self._cell))


def running_status(cell_index: int | None, step: int | None) -> RunStatus:
    """The status while this process runs the job."""
    return RunStatus(
        RunState.RUNNING, None, "running", step=step, cell_index=cell_index, supervisor_pid=os.getpid()
    )


def trip_end(trip: GuardTrip, cell_index: int | None) -> End:
    """The end of a job that a guard stopped."""
    reason = f"guard {trip.guard} stopped the job: {trip.message}"
    return End(EXIT_CODES[trip.guard], reason, guard=trip.guard, step=trip.step, cell_index=cell_index)


def reap_strangers(own: set[int]) -> None:
    """As a container's first process, wait for dead children that nobody else waits for."""
    if os.getpid() != 1:
        return
    for child in psutil.Process().children():
        try:
            if child.pid not in own and child.status() == psutil.STATUS_ZOMBIE:
                os.waitpid(child.pid, os.WNOHANG)
        except (psutil.Error, OSError):
            continue
