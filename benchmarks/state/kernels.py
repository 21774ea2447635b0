"""Kernels by the real protocol: start, run, answer, interrupt, kill, restart."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file

WAIT_S = 120
_HERE = Path(__file__).parent


class KernelDied(RuntimeError):
    """The kernel ended while a reply was awaited."""


class Zygote:
    """The process that forks the kernels; use as a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_HERE / "zygote.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def fork(self, connection: str, folder: Path, environment: dict[str, str], log: Path) -> int:
        """Start a kernel; returns its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"connection": connection, "cwd": str(folder), "env": environment, "log": str(log)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Kernel:
    """One kernel at a time, with the client that drives it.

    Args:
        zygote: what starts it.
        folder: its working directory.
        environment: what is added to the environment.
    """

    def __init__(self, zygote: Zygote, folder: Path, environment: dict[str, str]) -> None:
        self._zygote, self._folder = zygote, folder
        self._environment = {**os.environ, **environment}
        self._sockets = tempfile.TemporaryDirectory(prefix="cb-")
        self._client: Any = None
        self._pid = 0
        self._count = 0
        self.widgets: dict[str, dict[str, Any]] = {}
        """State of every widget model by comm id, as it was opened."""
        self.start()

    def start(self) -> None:
        """Start a kernel process and connect."""
        self._count += 1
        connection = f"{self._sockets.name}/kernel-{self._count}.json"
        write_connection_file(connection, transport="ipc", ip=f"{self._sockets.name}/s{self._count}", key=b"k")
        self._pid = self._zygote.fork(connection, self._folder, self._environment, Path(self._sockets.name, "log"))
        self._client = BlockingKernelClient(connection_file=connection)
        self._client.load_connection_file()
        self._client.start_channels(hb=False)
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:  # until the subscription works
            self._client.kernel_info()
            try:
                while self._client.get_iopub_msg(timeout=0.3)["content"].get("execution_state") != "idle":
                    pass
                return
            except queue.Empty:
                if not self.alive:
                    raise KernelDied(self.log) from None
        raise TimeoutError("the kernel does not answer")

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        return True

    @property
    def log(self) -> str:
        """What the process wrote outside the protocol."""
        path = Path(self._sockets.name, "log")
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def send(self, code: str, metadata: dict[str, Any], **content: Any) -> str:
        """Ask for a run; returns the id of the request."""
        body = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": True,
            "stop_on_error": True, **content,
        }  # fmt: skip
        message = self._client.session.msg("execute_request", body, metadata=metadata)
        self._client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def finish(self, request: str, answers: tuple[str, ...] = (), at: Callable[[str], bool] | None = None) -> str:
        """Wait for the end of a run; returns all text of it.

        Args:
            request: the id that ``send`` returned.
            answers: what is typed where the cell asks.
            at: called with the text so far after each message; true ends the waiting early.
        """
        left, text, end = list(answers), "", time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if left and self._client.stdin_channel.msg_ready():
                self._client.stdin_channel.get_msg(timeout=1)
                self._client.input(left.pop(0))
            try:
                message = self._client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                if not self.alive:
                    raise KernelDied(self.log) from None
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "comm_open" and "state" in content["data"]:
                self.widgets[content["comm_id"]] = dict(content["data"]["state"])
            elif kind == "comm_msg" and content["comm_id"] in self.widgets:
                self.widgets[content["comm_id"]].update(content["data"].get("state", {}))
            if message["parent_header"].get("msg_id") != request:
                continue
            text += _text(kind, content)
            if (kind == "status" and content["execution_state"] == "idle") or (at is not None and at(text)):
                return text
        raise TimeoutError("the cell does not end")

    def move_widget(self, description: str, value: object, trait: str = "value") -> None:
        """Set a widget as a person at the front end does; a choice is set by its ``index``."""
        self._to_widget(description, {"method": "update", "state": {trait: value}, "buffer_paths": []})

    def click(self, description: str) -> None:
        """Press a button."""
        self._to_widget(description, {"method": "custom", "content": {"event": "click"}})

    def _to_widget(self, description: str, data: dict[str, Any]) -> None:
        comm = next(comm for comm, state in self.widgets.items() if state.get("description") == description)
        message = self._client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self._client.shell_channel.send(message)
        self.finish(message["header"]["msg_id"])

    def interrupt(self) -> None:
        """What the stop button does."""
        os.kill(self._pid, signal.SIGINT)

    def kill(self) -> None:
        """What the out-of-memory killer does."""
        os.kill(self._pid, signal.SIGKILL)
        self._wait_for_end()

    def restart(self) -> None:
        """What the menu entry does; starts a new one where the old one died."""
        if self.alive:
            message = self._client.session.msg("shutdown_request", {"restart": True})
            self._client.control_channel.send(message)
            self._wait_for_end()
        self._client.stop_channels()
        self.widgets = {}
        self.start()

    def _wait_for_end(self) -> None:
        end = time.monotonic() + WAIT_S
        while self.alive and time.monotonic() < end:
            time.sleep(0.02)

    def close(self) -> None:
        """End it without asking: the journal was read before."""
        if self.alive:
            self.kill()
        self._client.stop_channels()
        self._sockets.cleanup()


def _text(kind: str, content: dict[str, Any]) -> str:
    if kind == "stream":
        return str(content["text"])
    if kind == "error":
        return f"{content['ename']}: {content['evalue']}\n"
    if kind in ("execute_result", "display_data"):
        return str(content["data"].get("text/plain", "")) + "\n"
    return ""
