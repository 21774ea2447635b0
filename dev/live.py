"""Drive a notebook in a live kernel as JupyterLab does: cell ids in the request, outputs saved to the file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbformat.v4 import output_from_msg

_OUTPUTS = {"stream", "display_data", "execute_result", "error"}


def kernel_manager(sockets: str) -> KernelManager:
    """A manager whose kernel talks through sockets in a folder.

    Free ports would be chosen before the kernel takes them, so that two kernels that start at one moment may get
    the same and one of them dies.
    """
    connection_file = str(Path(sockets) / "kernel.json")
    return KernelManager(kernel_name="python3", transport="ipc", connection_file=connection_file)


class LiveNotebook:
    """A notebook file open in a kernel.

    Use as a context manager; run cells in any order; the file is saved after each.
    """

    def __init__(self, path: Path, environment: dict[str, str] | None = None, timeout_s: float = 120) -> None:
        self.path = path
        self.notebook = nbformat.read(path, as_version=4)
        self._timeout_s = timeout_s
        self._sockets = tempfile.TemporaryDirectory(prefix="live-")
        self._manager = kernel_manager(self._sockets.name)
        self._environment = {**os.environ, "JPY_SESSION_NAME": str(path), **(environment or {})}
        self._client: Any = None

    def __enter__(self) -> LiveNotebook:
        self._manager.start_kernel(cwd=str(self.path.parent), env=self._environment)
        self._connect()
        return self

    def _connect(self) -> None:
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=False)
        self._sockets.cleanup()

    def restart(self) -> None:
        """Restart the kernel, as the menu entry does."""
        self._client.stop_channels()
        self._manager.restart_kernel(now=False)
        self._connect()

    def cell(self, cell_id: str) -> Any:
        """The cell with the given id."""
        return next(cell for cell in self.notebook.cells if cell.id == cell_id)

    def run_all(self) -> None:
        """Run every code cell from top to bottom."""
        for cell in self.notebook.cells:
            if cell.cell_type == "code":
                self.run(cell.id)

    def run(self, cell_id: str, deleted: Iterable[str] = ()) -> str:
        """Run one cell, save the file, and return the text that it printed or the error's name."""
        cell = self.cell(cell_id)
        cell.outputs = []
        reply = self._execute(cell.source, {"cellId": cell_id, "deletedCells": list(deleted)}, cell.outputs)
        cell.execution_count = reply["content"].get("execution_count")
        nbformat.write(self.notebook, self.path)
        return text_of(cell.outputs)

    def execute(self, source: str) -> str:
        """Run source that belongs to no cell, as a console does, and return what it printed."""
        outputs: list[Any] = []
        self._execute(source, {}, outputs)
        return text_of(outputs)

    def _execute(self, source: str, metadata: dict[str, Any], outputs: list[Any]) -> dict[str, Any]:
        content = {
            "code": source,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        self._client.shell_channel.send(message)
        request = message["header"]["msg_id"]
        while True:
            reply = self._client.get_iopub_msg(timeout=self._timeout_s)
            if reply["parent_header"].get("msg_id") != request:
                continue
            kind = reply["msg_type"]
            if kind in _OUTPUTS:
                outputs.append(output_from_msg(reply))
            elif kind == "status" and reply["content"]["execution_state"] == "idle":
                break
        while True:
            answer = self._client.get_shell_msg(timeout=self._timeout_s)
            if answer["parent_header"].get("msg_id") == request:
                return dict(answer)


def text_of(outputs: Iterable[Any]) -> str:
    """The text of a cell's outputs."""
    parts = []
    for output in outputs:
        if output["output_type"] == "stream":
            parts.append(output["text"])
        elif output["output_type"] == "error":
            parts.append(f"{output['ename']}: {output['evalue']}")
        else:
            parts.append(output["data"].get("text/plain", ""))
    return "".join(parts)
