"""The kernel as the supervisor's child: started with this interpreter, signalled, ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec

from jupyter_clusterbridge.model.canonical import canonical_json
from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.api import JOB_VARIABLE
from jupyter_clusterbridge.runtime.exits import End, JobEnded
from jupyter_clusterbridge.runtime.job import Job
from jupyter_clusterbridge.runtime.lifeline import TOKEN_VARIABLE, Lifeline
from jupyter_clusterbridge.runtime.prelude import BEGIN_REQUEST, END_REQUEST

_SOCKET_PATH_LIMIT = 80
_START_TIMEOUT_S = 180
_STOP_TIMEOUT_S = 10.0


class CellClient(AsyncKernelClient):
    """A client that names the cell in each execute request, as JupyterLab does."""

    cell_id: str | None = None

    def execute(
        self,
        code: str,
        silent: bool = False,
        store_history: bool = True,
        user_expressions: dict[str, Any] | None = None,
        allow_stdin: bool | None = None,
        stop_on_error: bool = True,
    ) -> str:
        """Send an execute request; a job has nobody to type, so that input is never allowed."""
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history,
            "user_expressions": user_expressions or {},
            "allow_stdin": False,
            "stop_on_error": stop_on_error,
        }
        metadata = {} if self.cell_id is None else {"cellId": self.cell_id, "deletedCells": []}
        message = self.session.msg("execute_request", content, metadata=metadata)
        self.shell_channel.send(message)
        return str(message["header"]["msg_id"])


class KernelProcess:
    """One kernel.

    Args:
        job: what runs in it.
        work: its working directory.
        log: takes one line of text.
    """

    def __init__(self, job: Job, work: Path, log: Callable[[str], None]) -> None:
        self._job = job
        self._work = work
        self._log = log
        self._token = uuid.uuid4().hex
        self._lifeline: Lifeline | None = None
        self._scratch = Path(tempfile.mkdtemp(prefix="clusterbridge-"))
        self.manager = _manager(self._scratch)
        self.client: CellClient | None = None
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> CellClient:
        """Start the kernel and prepare it for the job.

        Raises:
            JobEnded: the kernel does not come up or cannot be prepared.
        """
        self._lifeline = Lifeline(self._token)
        env = self._job.kernel_environ(self._scratch)
        env[TOKEN_VARIABLE] = self._token
        env[JOB_VARIABLE] = canonical_json(self._job.kernel_settings(self._work)).decode()
        with (self._job.run_dir / "supervisor.log").open("ab") as sink:
            await self.manager.start_kernel(
                cwd=str(self._work),
                env=env,
                stdout=sink,
                stderr=sink,
                extra_arguments=["--HistoryManager.enabled=False"],
            )
        self._process = self.manager.provisioner.process
        if self.pid is not None:
            self._lifeline.watch_group(self.pid)
        client: CellClient = self.manager.client()
        self.client = client
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=_START_TIMEOUT_S)
        except RuntimeError as error:
            raise JobEnded(
                End(JobExit.INTERNAL, f"the kernel did not start ({error}); see supervisor.log")
            ) from None
        await self._prepare()
        return client

    async def _ask(self, request: str, timeout: float | None) -> dict[str, Any]:
        """Run a hidden request that leaves no trace in the notebook; returns the reply's content."""
        assert self.client is not None
        self.client.cell_id = None
        reply = await self.client.execute_interactive(
            request,
            silent=True,
            store_history=False,
            allow_stdin=False,
            output_hook=lambda _message: None,
            timeout=timeout,
        )
        content: dict[str, Any] = reply["content"]
        return content

    async def _prepare(self) -> None:
        content = await self._ask(BEGIN_REQUEST, timeout=None)
        if content["status"] != "ok":
            for line in content.get("traceback", []):
                self._log(line)
            said = f"{content.get('ename')}: {content.get('evalue')}"
            raise JobEnded(End(JobExit.INTERNAL, f"the kernel could not be prepared for the job ({said})"))

    async def _say_goodbye(self) -> None:
        """Run the hidden request of the end; a kernel that is ending already (``exit()``) answers none."""
        asking = asyncio.ensure_future(self._ask(END_REQUEST, timeout=_STOP_TIMEOUT_S / 2))
        while not asking.done() and self.returncode() is None:
            await asyncio.wait({asking}, timeout=0.05)
        if not asking.done():
            asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    @property
    def pid(self) -> int | None:
        """Process id of the kernel; None before it was started."""
        return None if self._process is None else self._process.pid

    @property
    def own_pids(self) -> set[int]:
        """Processes whose end is waited for by their owners; nobody else may reap them."""
        pids = {self.pid, None if self._lifeline is None else self._lifeline.pid}
        return {pid for pid in pids if pid is not None}

    def returncode(self) -> int | None:
        """Exit code of the kernel's process, negative for a signal; None while it runs."""
        return None if self._process is None else self._process.poll()

    async def wait_dead(self, timeout_s: float = 5.0) -> int | None:
        """Wait until the process has ended and return its exit code; None when it runs on."""
        end = asyncio.get_running_loop().time() + timeout_s
        while self.returncode() is None and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.05)
        return self.returncode()

    def signal(self, number: int) -> None:
        """Send a signal to the kernel's process alone; its children are the notebook's business."""
        if self.pid is not None and self.returncode() is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, number)

    async def stop(self, *, now: bool) -> None:
        """End the kernel, and then everything that the job has started and that still runs."""
        try:
            if self.pid is not None and self.returncode() is None:
                if not now:
                    await self._say_goodbye()
                await asyncio.wait_for(self.manager.shutdown_kernel(now=now), _STOP_TIMEOUT_S)
        except Exception as error:
            self._log(f"the kernel did not shut down in order ({type(error).__name__}: {error})")
        if self.client is not None:
            self.client.stop_channels()
        if self._lifeline is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._lifeline.close)
            await self.wait_dead()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _manager(scratch: Path) -> AsyncKernelManager:
    """A manager that needs no installed kernelspec."""
    connection_file = scratch / "kernel.json"
    # a socket's path has a low limit, and some systems have no such sockets
    ipc = os.name == "posix" and len(str(connection_file)) < _SOCKET_PATH_LIMIT
    manager = AsyncKernelManager(
        kernel_name="", connection_file=str(connection_file), transport="ipc" if ipc else "tcp"
    )
    manager.client_factory = CellClient
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        display_name="ClusterBridge job",
        language="python",
    )
    return manager
