"""The docker engine: a container of any engine that speaks Docker's API (Docker, podman)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import docker

from jupyter_clusterbridge.engines.base import Engine, Progress, RunHandle, RunOptions, RunPlan
from jupyter_clusterbridge.engines.container import ContainerJob
from jupyter_clusterbridge.engines.docker_client import connect, engine_address, engine_errors, shares_files
from jupyter_clusterbridge.engines.images import BUNDLE_LABEL, base_reference, ensure_image, image_tag
from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.engine import EngineInfo
from jupyter_clusterbridge.model.errors import EngineUnavailable
from jupyter_clusterbridge.model.run import RunStatus

RUN_FOLDER = "/run/out"
"""The run directory inside the image, which its entry point names."""
DATA_FOLDER = "/run/data"
JOB_USER = 10001
"""User and group of the job where the caller is root; the image has an account of this number."""

_RUN_LABEL = "clusterbridge.run"
_PROCESSES = 4096


class DockerEngine(Engine):
    """Runs the image of a bundle as an unprivileged user under limits."""

    name = "docker"

    def __init__(self) -> None:
        super().__init__()
        self._client: docker.DockerClient | None = None
        self._jobs: dict[str, ContainerJob] = {}

    def availability(self) -> EngineInfo:
        """Usable where an engine answers at ``DOCKER_HOST`` or at the usual socket."""
        try:
            client = connect()
            with engine_errors("describe itself"):
                version = client.version()
        except EngineUnavailable as error:
            return EngineInfo(self.name, False, str(error))
        maker = (version.get("Platform") or {}).get("Name") or "Docker engine"
        return EngineInfo(self.name, True, f"{maker} {version.get('Version', '')} at {engine_address()}")

    def render(self, manifest: BundleManifest, folder: Path, options: RunOptions) -> RunPlan:
        """Say which image is needed and with what the container is made.

        Raises:
            EngineUnavailable: no engine answers.
        """
        shared = shares_files(self._connected())
        spec: dict[str, object] = {
            "engine": engine_address(),
            "image": image_tag(manifest),
            "base_image": base_reference(manifest),
            "files": "shared" if shared else "copied",
            "container": container_settings(manifest, options, shared=shared),
        }
        return RunPlan(self.name, folder, manifest, options, spec)

    def prepare(self, plan: RunPlan, progress: Progress) -> None:
        """Build the bundle's image unless the engine has it.

        Raises:
            RegistryRefused: the base image cannot be had.
            EnvironmentFailed: a step of the build failed.
        """
        ensure_image(self._connected(), plan.bundle, plan.manifest, progress)

    def submit(self, plan: RunPlan) -> RunHandle:
        """Make and start the container.

        Raises:
            EngineUnavailable: the engine refuses.
        """
        job = ContainerJob(self._connected(), plan, run_folder=RUN_FOLDER, data_folder=DATA_FOLDER)
        identifier = job.start()
        self._jobs[plan.options.run_id] = job
        return RunHandle(plan, identifier, time.monotonic())

    def status(self, handle: RunHandle) -> RunStatus:
        """The status file's word, made true when the container was killed."""
        return self._jobs[handle.run_id].status(self._ends.get(handle.run_id))

    def logs(self, handle: RunHandle) -> Iterator[str]:
        """What the supervisor prints."""
        return self._jobs[handle.run_id].logs()

    def fetch(self, handle: RunHandle) -> Path:
        """Bring the run directory here, owned by the caller, and remove the container."""
        self._jobs[handle.run_id].release()
        return handle.run_dir

    def _end(self, handle: RunHandle, *, force: bool) -> None:
        self._jobs[handle.run_id].send("SIGKILL" if force else "SIGTERM")

    def _connected(self) -> docker.DockerClient:
        if self._client is None:
            self._client = connect()
        return self._client


def container_settings(manifest: BundleManifest, options: RunOptions, *, shared: bool) -> dict[str, object]:
    """Everything that the container is made with, in the words of the Docker SDK.

    Args:
        manifest: the bundle's manifest.
        options: the run.
        shared: whether the run directory is the container's own folder too.
    """
    limits = options.resources
    settings: dict[str, object] = {
        "image": image_tag(manifest),
        "name": f"clusterbridge-{options.run_id}",
        "command": _arguments(options),
        "environment": dict(sorted({**_own_variables(), **options.variables}.items())),
        "labels": {BUNDLE_LABEL: manifest.digest, _RUN_LABEL: options.run_id},
        "user": _user(),
        "mounts": _mounts(options) if shared else [],
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": _PROCESSES,
        # the supervisor is the container's first process and reaps what it starts
        "init": False,
    }
    if limits.memory_bytes is not None:
        # equal numbers leave no swap
        settings["mem_limit"] = settings["memswap_limit"] = limits.memory_bytes
    if limits.cpus is not None:
        settings["nano_cpus"] = int(limits.cpus * 1_000_000_000)
    if limits.shm_bytes is not None:
        settings["shm_size"] = limits.shm_bytes
    return settings


def _arguments(options: RunOptions) -> list[str]:
    """Arguments after those of the image's entry point."""
    arguments = ["--grace", f"{options.grace_s:g}"]
    if options.data_dir is not None:
        arguments += ["--data-dir", DATA_FOLDER]
    if options.resources.time_limit_s is not None:
        arguments += ["--time-limit", f"{options.resources.time_limit_s:g}"]
    return arguments


def _mounts(options: RunOptions) -> list[dict[str, object]]:
    mounts: list[dict[str, object]] = [{"source": str(options.run_dir), "target": RUN_FOLDER, "read_only": False}]
    if options.data_dir is not None:
        mounts.append({"source": str(options.data_dir), "target": DATA_FOLDER, "read_only": True})
    return mounts


def _is_root() -> bool:
    return not hasattr(os, "getuid") or os.getuid() == 0


def _user() -> str:
    """The caller, so that the run directory stays the caller's; never root."""
    return f"{JOB_USER}:{JOB_USER}" if _is_root() else f"{os.getuid()}:{os.getgid()}"


def _own_variables() -> dict[str, str]:
    """A home and a name for a user that the image has no account of."""
    if _is_root():
        return {}
    return {"HOME": "/tmp", "USER": "job", "LOGNAME": "job"}
