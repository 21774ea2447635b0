"""Recording in a real job kernel, driven over the wire."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live import kernel_manager

from jupyter_clusterbridge.model.events import CellEnd, CellStart, KernelEnd, KernelStart, MetricLogged
from jupyter_clusterbridge.runtime.api import in_job
from jupyter_clusterbridge.runtime.heartbeat import read_heartbeat
from jupyter_clusterbridge.runtime.journal import Journal, read_journal

START = "__import__('jupyter_clusterbridge.runtime.kernel', fromlist=['x']).start_job_recording(get_ipython())"


class JobKernel:
    """A kernel as the supervisor starts it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        job = {"record_dir": str(folder / "record"), "role": "job", "root": str(folder), "notebook": "nb.ipynb"}
        self._sockets = tempfile.TemporaryDirectory(prefix="job-")
        self._manager = kernel_manager(self._sockets.name)
        self._manager.kernel_spec.argv[0] = sys.executable
        self._manager.start_kernel(cwd=str(folder), env={**os.environ, "CLUSTERBRIDGE_JOB": json.dumps(job)})
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)
        self._client.execute(START, silent=True, store_history=False, reply=True, timeout=60)

    def run(self, source: str, cell_id: str | None = None) -> tuple[dict[str, Any], str]:
        """Execute a cell with the metadata that JupyterLab sends; returns the reply and standard output."""
        content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}}
        message = self._client.session.msg(
            "execute_request", {**content, "allow_stdin": False, "stop_on_error": True}
        )
        message["metadata"] = {} if cell_id is None else {"cellId": cell_id}
        self._client.shell_channel.send(message)
        text = ""
        while True:
            published = self._client.get_iopub_msg(timeout=60)
            if published["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if published["msg_type"] == "stream":
                text += published["content"]["text"]
            if published["content"].get("execution_state") == "idle":
                break
        while True:
            reply = self._client.get_shell_msg(timeout=60)
            if reply["parent_header"]["msg_id"] == message["header"]["msg_id"]:
                return reply["content"], text

    def shut_down(self) -> None:
        if self._manager.has_kernel:
            self._client.stop_channels()
            self._manager.shutdown_kernel()
        self._sockets.cleanup()

    def journal(self) -> Journal:
        return read_journal(self.folder / "record" / "journal.jsonl")


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[JobKernel]:
    started = JobKernel(tmp_path)
    yield started
    started.shut_down()


def test_a_job_kernel_records_its_cells_and_leaves_the_users_names_alone(kernel: JobKernel) -> None:
    kernel.run("before = sorted(name for name in globals() if 'job' in name.lower() or 'record' in name)")
    _reply, text = kernel.run("print(before)", "second")
    kernel.run("1 / 0", "third")
    assert text == "[]\n"
    kernel.shut_down()
    events = kernel.journal().events
    assert isinstance(events[0], KernelStart)
    assert (events[0].role, events[0].notebook) == ("job", "nb.ipynb")
    starts = [event for event in events if isinstance(event, CellStart)]
    assert [(start.run, start.cell_id) for start in starts] == [(1, None), (2, "second"), (3, "third")]
    assert [event.status for event in events if isinstance(event, CellEnd)] == ["ok", "ok", "error"]
    assert isinstance(events[-1], KernelEnd)


def test_in_a_job_the_extension_gives_a_magic_of_one_line_and_metrics_are_recorded(kernel: JobKernel) -> None:
    reply, text = kernel.run("%load_ext clusterbridge\n%clusterbridge export --to docker")
    assert reply["status"] == "ok", reply
    assert len(text.splitlines()) == 1
    assert "does nothing in a job" in text
    reply, _text = kernel.run("import clusterbridge as cb; cb.metric('accuracy', 0.75)\n%unload_ext clusterbridge")
    assert reply["status"] == "ok", reply
    kernel.run("cb.metric('after', 1)")
    found = [event for event in kernel.journal().events if isinstance(event, MetricLogged)]
    assert [(metric.name, metric.value) for metric in found] == [("accuracy", 0.75), ("after", 1.0)]


def test_exit_is_recorded_as_an_exit(kernel: JobKernel) -> None:
    kernel.run("import sys; sys.exit(0)")
    assert [event.status for event in kernel.journal().events if isinstance(event, CellEnd)] == ["exit"]


@pytest.mark.torch
def test_a_job_kernel_records_training_and_beats(kernel: JobKernel) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    source = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for i in range(3):\n    model(torch.ones(4, 2)).mean().backward(); optimizer.step()"
    )
    reply, _text = kernel.run(source)
    assert reply["status"] == "ok", reply
    beat = read_heartbeat(kernel.folder / "record" / "heartbeat")
    assert beat is not None
    assert beat.step == 3


def test_here_is_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLUSTERBRIDGE_JOB", raising=False)
    assert not in_job()
