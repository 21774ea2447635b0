"""The interface that every engine implements: render first, submit what was rendered."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import pretty_json
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.engine import EngineInfo
from jupyter_clusterbridge.model.errors import (
    ClusterBridgeError,
    EngineUnavailable,
    EnvironmentFailed,
    RegistryRefused,
)
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.status import finish_killed

ENGINE_ERRORS: tuple[type[ClusterBridgeError], ...] = (EngineUnavailable, RegistryRefused, EnvironmentFailed)
"""What an engine raises; nothing of a client library's own gets out."""

GUARD_PREFIX = "CLUSTERBRIDGE_GUARD_"
_OVERDUE_MARGIN_S = 15.0

Progress = Callable[[str], None]


@dataclass(frozen=True)
class RunOptions:
    """What one run asks for beyond the bundle."""

    run_dir: Path
    """Absolute path of the run directory; it exists and is empty."""
    run_id: str
    """Unique among all runs of this user; lower-case letters, digits and hyphens."""
    resources: Resources = field(default_factory=Resources)
    data_dir: Path | None = None
    """Where declared data lies that the bundle does not hold."""
    grace_s: float = 10.0
    """Seconds between asking the job to end and ending it."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that the job gets besides those of the lock."""


@dataclass(frozen=True)
class RunPlan:
    """What an engine is going to do, in full and before it does anything; ``str(plan)`` prints it."""

    engine: str
    bundle: Path
    manifest: BundleManifest
    options: RunOptions
    spec: Mapping[str, object]
    """Plain JSON data: exactly what the engine will be asked for."""
    notes: tuple[str, ...] = ()
    """What a person should know, one sentence each: a limit that cannot be held, another patch version."""

    def __str__(self) -> str:
        document = {
            "engine": self.engine,
            "bundle": str(self.bundle),
            "run_dir": str(self.options.run_dir),
            "spec": to_json(self.spec),
            "notes": list(self.notes),
        }
        return pretty_json(document).decode("utf-8")


@dataclass(frozen=True)
class RunHandle:
    """One submitted run."""

    plan: RunPlan
    native: str
    """The engine's own name of it: a process id, a container id."""
    started: float
    """Monotonic time in seconds."""

    @property
    def run_dir(self) -> Path:
        """The run directory on this machine."""
        return self.plan.options.run_dir

    @property
    def run_id(self) -> str:
        """The run's unique name."""
        return self.plan.options.run_id


@dataclass(frozen=True)
class KilledEnd:
    """How a run counts whose supervisor was killed before it could say so itself."""

    reason: str
    exit_code: int = int(JobExit.SUPERVISOR_KILLED)
    state: RunState = RunState.FAILED

    def write(self, run_dir: Path) -> RunStatus:
        """Write the end, unless the supervisor has written one; returns the status that stands."""
        return finish_killed(run_dir, reason=self.reason, exit_code=self.exit_code, state=self.state)


class Engine(ABC):
    """Executes bundles somewhere. Its status is the truth, never the log stream.

    Every method raises only errors of ``ENGINE_ERRORS`` and those of writing files.
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self._cancelled_at: dict[str, float] = {}
        self._ends: dict[str, KilledEnd] = {}

    @abstractmethod
    def availability(self) -> EngineInfo:
        """Whether the engine can be used here and now, and why not; never raises."""

    @abstractmethod
    def render(self, manifest: BundleManifest, folder: Path, options: RunOptions) -> RunPlan:
        """Say what :meth:`prepare` and :meth:`submit` would do; changes nothing anywhere."""

    @abstractmethod
    def prepare(self, plan: RunPlan, progress: Progress) -> None:
        """Make the environment or image that the plan names where it is missing; takes minutes the first time."""

    @abstractmethod
    def submit(self, plan: RunPlan) -> RunHandle:
        """Start the job of a prepared plan; takes seconds."""

    @abstractmethod
    def status(self, handle: RunHandle) -> RunStatus:
        """State of the job now; the end of a killed supervisor is written on the first look."""

    @abstractmethod
    def logs(self, handle: RunHandle) -> Iterator[str]:
        """Lines of the supervisor's log from the first one, until the job has ended."""

    @abstractmethod
    def fetch(self, handle: RunHandle) -> Path:
        """Bring the run directory here and release all that the engine still holds; may be called twice."""

    @abstractmethod
    def _end(self, handle: RunHandle, *, force: bool) -> None:
        """Send SIGTERM to the supervisor, or SIGKILL with ``force``; nothing happens when it is gone."""

    def cancel(self, handle: RunHandle, *, force: bool = False) -> None:
        """Ask the job to end and give it its grace time; with ``force`` end it at once."""
        self._cancelled_at.setdefault(handle.run_id, time.monotonic())
        if force:
            reason = "cancelled; the job did not end by itself and was killed"
            self._ends.setdefault(handle.run_id, KilledEnd(reason, int(JobExit.CANCELLED), RunState.CANCELLED))
        self._end(handle, force=force)

    def wait(self, handle: RunHandle, poll_s: float = 0.2) -> RunStatus:
        """Block until the job has ended; one that ignores its time limit or a cancellation is killed from here."""
        while (status := self.status(handle)).state is RunState.RUNNING:
            self._end_overdue(handle)
            time.sleep(poll_s)
        return status

    def _end_overdue(self, handle: RunHandle) -> None:
        options, now = handle.plan.options, time.monotonic()
        patience = options.grace_s + _OVERDUE_MARGIN_S
        limit = options.resources.time_limit_s
        if limit is not None and now - handle.started > limit + patience:
            reason = f"the time limit of {limit:g} s passed and the supervisor did not end the job; the engine did"
            self._ends.setdefault(handle.run_id, KilledEnd(reason, int(JobExit.TIMED_OUT), RunState.TIMED_OUT))
            self._end(handle, force=True)
        elif now - self._cancelled_at.get(handle.run_id, now) > patience:
            self.cancel(handle, force=True)


def guard_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The ``CLUSTERBRIDGE_GUARD_*`` variables of this process, which a run passes on.

    >>> guard_variables({"CLUSTERBRIDGE_GUARD_STALL": "off", "HOME": "/home/ada"})
    {'CLUSTERBRIDGE_GUARD_STALL': 'off'}
    """
    source = os.environ if environ is None else environ
    return {name: value for name, value in sorted(source.items()) if name.startswith(GUARD_PREFIX)}


def supervisor_arguments(bundle: str, run_dir: str, data_dir: str | None, options: RunOptions) -> tuple[str, ...]:
    """Arguments of ``python -m jupyter_clusterbridge.runtime`` for paths as the job sees them."""
    arguments = ["--bundle", bundle, "--run-dir", run_dir, "--grace", f"{options.grace_s:g}"]
    if data_dir is not None:
        arguments += ["--data-dir", data_dir]
    if options.resources.time_limit_s is not None:
        arguments += ["--time-limit", f"{options.resources.time_limit_s:g}"]
    return ("-m", "jupyter_clusterbridge.runtime", *arguments)
