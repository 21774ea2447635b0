"""One job as a process of this machine: started under its limits, watched, ended, and its status settled."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jupyter_clusterbridge.engines.base import KilledEnd
from jupyter_clusterbridge.engines.limits import Limits, MemoryEnd, make_groups, read_memory, remove_groups
from jupyter_clusterbridge.engines.outcome import settle
from jupyter_clusterbridge.model.errors import EngineUnavailable, RunInvalid
from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.model.run import JobExit, RunState, RunStatus
from jupyter_clusterbridge.runtime.status import read_status

CONSOLE_FILE = "console.log"
"""What the supervisor prints, in the run directory."""

_LINGER_S = 15.0
_TAIL_BYTES = 2000


class LocalJob:
    """A supervisor and all that it starts."""

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        limits: Limits,
        run_dir: Path,
        memory_bytes: int | None,
    ) -> None:
        self._command = tuple(command)
        self._variables = dict(variables)
        self._limits = limits
        self._run_dir = run_dir
        self._memory_bytes = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_at: float | None = None
        self._memory: MemoryEnd | None = None

    def start(self) -> int:
        """Start the supervisor and return its process id.

        Raises:
            EngineUnavailable: the limits cannot be set or the process cannot be started.
        """
        try:
            make_groups(self._limits)
        except OSError as error:
            raise EngineUnavailable(
                f"the limits of the run could not be set: {error}",
                hint="Run it again without --memory and --cpus, or with --engine docker.",
            ) from None
        shell = self._limits.shell()
        command = ("/bin/sh", "-c", shell, "clusterbridge", *self._command) if shell else self._command
        try:
            with (self._run_dir / CONSOLE_FILE).open("ab") as console, _affinity(self._limits.affinity):
                self._process = subprocess.Popen(
                    command,
                    env=self._variables,
                    cwd=self._run_dir,
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=subprocess.STDOUT,
                    # a Ctrl-C at the terminal reaches us alone; we pass it on
                    start_new_session=True,
                )
        except OSError as error:
            remove_groups(self._limits)
            raise explain_os_error(error, self._run_dir) from None
        return self._process.pid

    def alive(self) -> bool:
        """Whether the supervisor still runs."""
        return self._process is not None and self._process.poll() is None

    def send(self, number: int) -> None:
        """Send the supervisor a signal; nothing happens when it is gone."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    def kill(self) -> None:
        """End the supervisor at once and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def status(self, killed: KilledEnd | None) -> RunStatus:
        """What ``status.json`` says, made true when the supervisor could not write its end.

        Args:
            killed: what the end counts as when we killed the supervisor ourselves.
        """
        if self.alive():
            return self._status_alive()
        if killed is not None:
            killed.write(self._run_dir)
        try:
            status = read_status(self._run_dir)
        except RunInvalid:
            status = self._end("the supervisor ended before it wrote a status").write(self._run_dir)
        if status.state is RunState.RUNNING:
            status = self._end("the supervisor was killed and could not finish the run").write(self._run_dir)
        return settle(self._run_dir, status, self._read_memory(), self._memory_bytes)

    def release(self) -> None:
        """End what is left of the job and remove its groups."""
        self._read_memory()
        if self.alive():
            self.kill()
        remove_groups(self._limits)

    def _status_alive(self) -> RunStatus:
        """Before the supervisor is gone a final status counts as running still, but not for ever."""
        try:
            status = read_status(self._run_dir)
        except RunInvalid:
            return RunStatus(RunState.RUNNING, None, "starting")
        if status.state is RunState.RUNNING:
            return status
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        if now - self._ended_at > _LINGER_S:
            self.kill()
        return RunStatus(RunState.RUNNING, None, "ending", step=status.step, cell_index=status.cell_index)

    def _end(self, reason: str) -> KilledEnd:
        code = self._process.returncode if self._process is not None else None
        if code is not None and code < 0:
            return KilledEnd(f"{reason} ({signal.Signals(-code).name})")
        return KilledEnd(f"{reason}{self._last_words()}", int(JobExit.INTERNAL))

    def _last_words(self) -> str:
        try:
            text = (self._run_dir / CONSOLE_FILE).read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").strip()
        except OSError:
            return ""
        return f": {text.splitlines()[-1]}" if text else ""

    def _read_memory(self) -> MemoryEnd:
        if self._memory is None:
            memory = read_memory(self._limits)
            if self.alive():
                return memory
            self._memory = memory
        return self._memory


@contextlib.contextmanager
def _affinity(cpus: Sequence[int]) -> Iterator[None]:
    """Give this thread some CPUs only, so that a process started meanwhile has them from its first moment."""
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
