"""The local engine: a process of this machine in a fresh virtual environment from the lock."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from jupyter_clusterbridge.engines.base import (
    Engine,
    Progress,
    RunHandle,
    RunOptions,
    RunPlan,
    supervisor_arguments,
)
from jupyter_clusterbridge.engines.environments import ensure_environment, locked_environment
from jupyter_clusterbridge.engines.follow import follow
from jupyter_clusterbridge.engines.interpreter import Interpreter, find_interpreter
from jupyter_clusterbridge.engines.limits import Limits, choose_limits
from jupyter_clusterbridge.engines.process import CONSOLE_FILE, LocalJob
from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.engine import EngineInfo
from jupyter_clusterbridge.model.errors import EngineUnavailable
from jupyter_clusterbridge.model.run import RunStatus

_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_KEPT_VARIABLES = ("HOME", "LANG", "CUDA_VISIBLE_DEVICES", "SYSTEMROOT")
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class LocalEngine(Engine):
    """Needs nothing but Python; the default."""

    name = "local"

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[str, LocalJob] = {}

    def availability(self) -> EngineInfo:
        """Usable wherever the tool that makes environments is."""
        try:
            import uv

            uv.find_uv_bin()
        except (ImportError, FileNotFoundError):
            return EngineInfo(
                self.name, False, "uv, which makes the environments, is not installed (pip install uv)"
            )
        return EngineInfo(self.name, True, f"Python {platform.python_version()} on {this_platform()}")

    def render(self, manifest: BundleManifest, folder: Path, options: RunOptions) -> RunPlan:
        """Choose the interpreter, the environment's place in the cache, the command and the limits.

        Raises:
            EngineUnavailable: the lock is for another platform, or no fitting Python is here.
        """
        if manifest.lock.platform != this_platform():
            raise EngineUnavailable(
                f"the bundle is locked for {manifest.lock.platform}, and this machine is {this_platform()}",
                hint=f"Export again with --platform {this_platform()}, or run it with --engine docker.",
            )
        interpreter = find_interpreter(manifest.lock.python)
        environment = locked_environment(folder, interpreter)
        limits = choose_limits(options.resources, options.run_id)
        data_dir = str(options.data_dir) if options.data_dir is not None else None
        arguments = supervisor_arguments(str(folder), str(options.run_dir), data_dir, options)
        spec: dict[str, object] = {
            "interpreter": to_json(interpreter),
            "environment": str(environment.folder),
            "command": [str(environment.python), *arguments],
            "variables": _variables(manifest, environment.bin, options),
            "limits": to_json(limits),
        }
        notes = (*_patch_note(manifest, interpreter), *limits.notes)
        return RunPlan(self.name, folder, manifest, options, spec, notes)

    def prepare(self, plan: RunPlan, progress: Progress) -> None:
        """Make the environment unless the cache has it.

        Raises:
            EnvironmentFailed: the lock cannot be installed.
        """
        interpreter = from_json(Interpreter, plan.spec["interpreter"], "interpreter")
        ensure_environment(locked_environment(plan.bundle, interpreter), progress)

    def submit(self, plan: RunPlan) -> RunHandle:
        """Start the supervisor.

        Raises:
            EngineUnavailable: the limits cannot be set.
        """
        job = LocalJob(
            cast("list[str]", plan.spec["command"]),
            cast("dict[str, str]", plan.spec["variables"]),
            from_json(Limits, plan.spec["limits"], "limits"),
            plan.options.run_dir,
            plan.options.resources.memory_bytes,
        )
        pid = job.start()
        self._jobs[plan.options.run_id] = job
        return RunHandle(plan, str(pid), time.monotonic())

    def status(self, handle: RunHandle) -> RunStatus:
        """The status file's word, made true when the supervisor was killed."""
        return self._job(handle).status(self._ends.get(handle.run_id))

    def logs(self, handle: RunHandle) -> Iterator[str]:
        """What the supervisor prints."""
        job = self._job(handle)
        return follow(handle.run_dir / CONSOLE_FILE, ended=lambda: not job.alive())

    def fetch(self, handle: RunHandle) -> Path:
        """The run directory is here already; what is left of the job is ended."""
        self._job(handle).release()
        return handle.run_dir

    def _end(self, handle: RunHandle, *, force: bool) -> None:
        if force:
            self._job(handle).kill()
        else:
            self._job(handle).send(signal.SIGTERM)

    def _job(self, handle: RunHandle) -> LocalJob:
        return self._jobs[handle.run_id]


def this_platform() -> str:
    """This machine in OCI form, for example ``linux/amd64``."""
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}/{_MACHINES.get(machine, machine)}"


def _variables(manifest: BundleManifest, commands: Path, options: RunOptions) -> dict[str, str]:
    """The job's whole environment: nothing of the user's shell decides how a job runs."""
    variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    path = os.pathsep.join([str(commands), *_SYSTEM_PATH]) if os.name != "nt" else os.environ.get("PATH", "")
    return {"LANG": "C.UTF-8", **variables, "PATH": path, **manifest.lock.variables, **options.variables}


def _patch_note(manifest: BundleManifest, interpreter: Interpreter) -> tuple[str, ...]:
    if interpreter.version == manifest.lock.python:
        return ()
    return (
        f"Python {manifest.lock.python} is not on this machine; {interpreter.version} runs the job, "
        "which the verdict will show as a difference of the environment",
    )
