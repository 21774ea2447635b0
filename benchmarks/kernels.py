"""Real kernels side by side for a benchmark: plain, with ClusterBridge, and with other tools where they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

WAIT_S = 600
PLAIN = "plain"
OURS = "ClusterBridge"
IPYKERNEL = "ipykernel_launcher"


@dataclass(frozen=True)
class Tool:
    """Something that watches cells: how its kernel is started and turned on."""

    name: str
    distribution: str
    module: str = IPYKERNEL
    """Module that is the kernel; FlowBook has one of its own."""
    setup: str = "pass"
    """First cell."""


CLUSTERBRIDGE = Tool(
    OURS,
    "jupyter-clusterbridge",
    setup="from jupyter_clusterbridge.app.record import start_recording\nstart_recording(get_ipython());",
)
OTHERS = {
    "ipyflow": Tool("ipyflow", "ipyflow-core", setup="%load_ext ipyflow"),
    "flowbook": Tool("FlowBook", "flowbook-python", module="flowbook.kernel"),
}
"""Tools that ``--tool NAME=PYTHON`` knows."""


def version_of(python: str, distribution: str) -> str | None:
    """The version of a distribution in an interpreter's environment; None where it is not there."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@dataclass
class Refusals:
    """Cells that a tool would not run, or that failed under it."""

    count: int = 0
    said: list[str] = field(default_factory=list)


class Kernel:
    """One real kernel and its client.

    Args:
        tool: what watches in it; None for a plain one.
        python: the interpreter.
        folder: working folder, which also holds the notebook's name.
    """

    def __init__(self, tool: Tool | None, python: str, folder: Path) -> None:
        self.tool = tool
        self.python = python
        self.name = PLAIN if tool is None else tool.name
        self.refused = Refusals()
        self._order: list[str] = []
        self._manager = KernelManager()
        module = IPYKERNEL if tool is None else tool.module
        self._manager._kernel_spec = KernelSpec(
            argv=[python, "-m", module, "-f", "{connection_file}"], language="python"
        )
        self.notebook = folder / f"{self.name}.ipynb"
        quiet = {**os.environ, "JPY_SESSION_NAME": str(self.notebook), "IPYTHONDIR": str(folder / "ipython")}
        if python != sys.executable:
            quiet.pop("PYTHONPATH", None)  # ours would reach into the other environment
        # one hash seed for all: which names of a namespace collide changes a top-level loop by a tenth
        quiet["PYTHONHASHSEED"] = "0"
        self._manager.start_kernel(cwd=str(folder), env=quiet, stderr=-3, stdout=-3)
        self._client: Any = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=WAIT_S)
        self.run("pass" if tool is None else tool.setup)

    def run(self, code: str, cell_id: str | None = None) -> float | None:
        """Run a cell; returns the time to its reply in seconds, None where it failed or was refused."""
        name = cell_id or f"cell-{len(self._order)}"
        if name not in self._order:
            self._order.append(name)
        metadata: dict[str, object] = {"cellId": name, "cell_id": name}
        if self.tool is not None and self.tool.module != IPYKERNEL:
            metadata["cell_order"] = self._order
        body = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": True,
        }  # fmt: skip
        message = self._client.session.msg("execute_request", body, metadata=metadata)
        start = time.perf_counter()
        self._client.shell_channel.send(message)
        while True:
            reply = self._client.get_shell_msg(timeout=WAIT_S)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                break
        spent = time.perf_counter() - start
        while self._client.iopub_channel.msg_ready():
            self._client.get_iopub_msg(timeout=1)
        content = reply["content"]
        if content["status"] == "ok":
            return spent
        if self.tool is None or self.tool is CLUSTERBRIDGE:
            raise SystemExit(f"{self.name}: {code!r} failed: {content.get('evalue')}")
        self.refused.count += 1
        said = str(content.get("evalue")).splitlines() or [""]
        self.refused.said.append(f"{content.get('ename')}: {said[0][:120]}")
        return None

    @property
    def _process(self) -> psutil.Process:
        provisioner: Any = self._manager.provisioner
        return psutil.Process(provisioner.pid)

    @property
    def resident(self) -> int:
        """Memory of the kernel's process in bytes."""
        return int(self._process.memory_info().rss)

    @property
    def processor_s(self) -> float:
        """Processor time of the kernel's process so far in seconds; what else the machine does is not in it."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def evaluate(self, code: str) -> str:
        """Run a cell that writes its answer to ``answer.txt``, and read that."""
        self.run(code)
        return self.notebook.with_name("answer.txt").read_text()

    def close(self) -> None:
        """End the kernel."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
