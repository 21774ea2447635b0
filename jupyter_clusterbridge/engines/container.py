"""One job as a container: started, watched, ended, its files brought here and its status settled."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from jupyter_clusterbridge.engines.base import KilledEnd, RunPlan
from jupyter_clusterbridge.engines.docker_client import CLIENT_ERRORS, engine_errors
from jupyter_clusterbridge.engines.limits import MemoryEnd
from jupyter_clusterbridge.engines.outcome import settle
from jupyter_clusterbridge.engines.transfer import pack, unpack
from jupyter_clusterbridge.model.errors import RunInvalid
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.status import read_status

CONSOLE_FILE = "console.log"
_KILLED = 137
_NEAR_LIMIT = 0.95


class ContainerJob:
    """A container and the run directory that belongs to it."""

    def __init__(self, client: docker.DockerClient, plan: RunPlan, *, run_folder: str, data_folder: str) -> None:
        self._client = client
        self._plan = plan
        self._run_folder = run_folder
        self._data_folder = data_folder
        # plain JSON data that goes to the SDK as it stands
        self._settings = cast("dict[str, Any]", plan.spec["container"])
        self._shared = plan.spec["files"] == "shared"
        self._container: Container | None = None
        self._peak: int | None = None
        self._collected = False

    @property
    def _run_dir(self) -> Path:
        return self._plan.options.run_dir

    def start(self) -> str:
        """Make and start the container; returns its id.

        Raises:
            EngineUnavailable: the engine refuses; no container is left.
        """
        self._hand_over()
        mounts = [docker.types.Mount(type="bind", **item) for item in self._settings["mounts"]]
        try:
            with engine_errors("start the container"):
                self._container = self._client.containers.create(**{**self._settings, "mounts": mounts})
                if not self._shared:
                    self._send_data()
                self._container.start()
        except BaseException:
            self.release()
            raise
        threading.Thread(target=self._watch_memory, daemon=True).start()
        return cast(str, self._container.id)

    def status(self, killed: KilledEnd | None) -> RunStatus:
        """What ``status.json`` says, made true when the container was killed.

        Args:
            killed: what the end counts as when we killed the container ourselves.
        """
        state = self._state()
        if state.get("Status") in ("created", "running", "paused", "restarting"):
            return self._status_running()
        self._collect()
        memory = self._memory_end(state)
        end = killed or self._killed_end(state)
        try:
            status = read_status(self._run_dir)
        except RunInvalid:
            status = end.write(self._run_dir)
        if status.state is RunState.RUNNING:
            status = end.write(self._run_dir)
        if killed is not None:
            return status
        return settle(self._run_dir, status, memory, self._plan.options.resources.memory_bytes)

    def logs(self) -> Iterator[str]:
        """Lines of what the supervisor prints, until the container has ended."""
        if self._container is None:
            return
        pending = b""
        with engine_errors("show the log"):
            for chunk in self._container.logs(stream=True, follow=True):
                *lines, pending = (pending + chunk).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
        if pending:
            yield pending.decode("utf-8", "replace")

    def send(self, signal: str) -> None:
        """Send the supervisor a signal; nothing happens when it is gone."""
        if self._container is None or self._state().get("Status") != "running":
            return
        with engine_errors("reach the container"):
            try:
                self._container.kill(signal=signal)
            except APIError:
                # it may have ended since; anything else is a failure
                if self._state().get("Status") == "running":
                    raise

    def release(self) -> None:
        """Bring the files here and remove the container; may be called twice."""
        if self._container is not None:
            container = self._container
            self.send("SIGKILL")
            self._collect()
            self._keep_console()
            self._container = None
            with engine_errors("remove the container"), contextlib.suppress(NotFound):
                container.remove(force=True, v=True)
        self._take_back()

    def _state(self) -> Mapping[str, object]:
        if self._container is None:
            return {"Status": "removed"}
        with engine_errors("say how the container is"):
            try:
                self._container.reload()
            except NotFound:  # someone removed it
                return {"Status": "removed"}
            return cast("Mapping[str, object]", self._container.attrs["State"])

    def _status_running(self) -> RunStatus:
        starting = RunStatus(RunState.RUNNING, None, "starting")
        if not self._shared:
            return starting
        try:
            status = read_status(self._run_dir)
        except RunInvalid:
            return starting
        if status.state is RunState.RUNNING:
            return status
        # the container ends in a moment; until then its files may still change
        return RunStatus(RunState.RUNNING, None, "ending", step=status.step, cell_index=status.cell_index)

    def _killed_end(self, state: Mapping[str, object]) -> KilledEnd:
        code = state.get("ExitCode")
        if state.get("Status") == "removed":
            return KilledEnd("the container was removed while the job ran")
        if code == _KILLED:
            return KilledEnd("the container was killed and the supervisor could not finish the run (SIGKILL)")
        said = str(state.get("Error") or self._last_words())
        reason = f"the container ended with exit code {code} before the supervisor wrote a status"
        return KilledEnd(f"{reason}: {said}" if said else reason, int(JobExit.INTERNAL))

    def _memory_end(self, state: Mapping[str, object]) -> MemoryEnd:
        """What the engine says; podman never does, so a kill close to the limit counts as well."""
        limit = self._plan.options.resources.memory_bytes
        close = limit is not None and self._peak is not None and self._peak >= _NEAR_LIMIT * limit
        killed = bool(state.get("OOMKilled")) or (state.get("ExitCode") == _KILLED and close)
        return MemoryEnd(killed, max(self._peak or 0, limit or 0) or None if killed else self._peak)

    def _watch_memory(self) -> None:
        """Keep the peak, which the engine forgets when the container ends."""
        container = self._container
        if container is None:
            return
        # the peak is for the message only; without the engine the status call reports the failure
        with contextlib.suppress(*CLIENT_ERRORS, ValueError):
            for sample in cast("Iterator[dict[str, Any]]", container.stats(stream=True, decode=True)):
                memory = sample.get("memory_stats") or {}
                seen = int(memory.get("max_usage") or memory.get("usage") or 0)
                self._peak = max(self._peak or 0, seen) or None

    def _last_words(self) -> str:
        if self._container is None:
            return ""
        with contextlib.suppress(*CLIENT_ERRORS):
            lines = self._container.logs(tail=5).decode("utf-8", "replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def _keep_console(self) -> None:
        container = self._container
        if container is None:
            return
        with engine_errors("show the log"), contextlib.suppress(NotFound):
            write_atomic(self._run_dir / CONSOLE_FILE, container.logs())

    def _hand_over(self) -> None:
        """Give the run directory to the job's user where we are root and the job is not."""
        if self._shared and hasattr(os, "chown") and os.getuid() == 0:
            uid, gid = map(int, str(self._settings["user"]).split(":"))
            os.chown(self._run_dir, uid, gid)

    def _take_back(self) -> None:
        if not (self._shared and hasattr(os, "chown") and os.getuid() == 0):
            return
        owner = (os.getuid(), os.getgid())
        for folder, folders, files in os.walk(self._run_dir):
            for name in (".", *folders, *files):
                with contextlib.suppress(OSError):
                    os.chown(os.path.join(folder, name), *owner, follow_symlinks=False)

    def _send_data(self) -> None:
        """Copy the declared data files into a container that cannot see our folders."""
        data_dir = self._plan.options.data_dir
        if data_dir is None or self._container is None:
            return
        names = [item.path for item in self._plan.manifest.data]
        with pack(data_dir, names, self._data_folder) as archive:
            self._container.put_archive("/", archive)

    def _collect(self) -> None:
        """Copy the run directory out of a container that cannot see our folders, once."""
        if self._shared or self._collected or self._container is None:
            return
        with engine_errors("give the run directory"):
            try:
                stream, _ = self._container.get_archive(self._run_folder)
            except NotFound:
                return
            unpack(stream, self._run_dir)
        self._collected = True
