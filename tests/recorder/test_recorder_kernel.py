"""The recorder in real kernels, as a front end drives them."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpec
from live import kernel_manager

from jupyter_clusterbridge.model.events import CellEnd, CellStart, InterventionSeen
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.recorder.check import check_notebook
from jupyter_clusterbridge.runtime.journal import read_journals

LOAD = "from jupyter_clusterbridge.app.record import start_recording\nstart_recording(get_ipython());"
WAIT_S = 60


class FrontEnd:
    """A client that sends cells with their ids, as JupyterLab does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "live.ipynb"
        self.path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
        self.sockets = tempfile.TemporaryDirectory(prefix="front-")
        self.manager = kernel_manager(self.sockets.name)
        self.manager._kernel_spec = KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, "JPY_SESSION_NAME": str(self.path)})
        self.client: Any = None
        self.connect()

    def connect(self) -> None:
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT_S)

    def send(self, code: str, cell_id: str | None = None, deleted: tuple[str, ...] = (), **content: Any) -> str:
        body = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": True,
            "stop_on_error": False, **content,
        }  # fmt: skip
        metadata = {"cellId": cell_id, "deletedCells": list(deleted)} if cell_id else {}
        message = self.client.session.msg("execute_request", body, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def finish(self, message_id: str, answer: str | None = None) -> str:
        """Wait for the reply; returns everything that was printed."""
        printed = []
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if answer is not None and self.client.stdin_channel.msg_ready():
                self.client.stdin_channel.get_msg(timeout=1)
                self.client.input(answer)
            try:
                message = self.client.get_iopub_msg(timeout=0.1)
            except Exception:  # queue.Empty under another name per version
                continue
            if message["parent_header"].get("msg_id") != message_id:
                continue
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return "".join(printed)
        raise AssertionError("the kernel did not answer")

    def run(self, code: str, cell_id: str | None = None, deleted: tuple[str, ...] = (), **content: Any) -> str:
        return self.finish(self.send(code, cell_id, deleted, **content))

    def save(self, **cells: str) -> None:
        body = [
            {"cell_type": "code", "id": i, "source": s, "metadata": {}, "outputs": []} for i, s in cells.items()
        ]
        self.path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": body}))

    def events(self, kind: Any) -> list[Any]:
        return [
            event for journal in read_journals(self.path) for event in journal.events if isinstance(event, kind)
        ]

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.sockets.cleanup()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[FrontEnd]:
    one = FrontEnd(tmp_path)
    yield one
    one.close()


def test_ids_deleted_cells_and_the_notebook_come_from_the_request(lab):
    lab.run(LOAD, "load")
    lab.run("x = 1", "a")
    lab.run("y = x", "b", deleted=("old",))
    lab.run("hidden = 1", silent=True, store_history=False)
    lab.run("import asyncio\nawait asyncio.sleep(0)\nz = 1", "c")
    starts = lab.events(CellStart)
    assert [(e.cell_id, e.deleted_cells) for e in starts] == [
        ("load", ()), ("a", ()), ("b", ("old",)), ("c", ()),
    ]  # fmt: skip
    assert [e.status for e in lab.events(CellEnd)] == ["ok"] * 4
    assert "name:z" in lab.events(CellEnd)[-1].writes


def test_input_is_recorded_as_asked_and_works_as_before(lab):
    lab.run(LOAD, "load")
    printed = lab.finish(lab.send("name = input('who? ')\nprint('hello ' + name)", "a"), answer="s3cret")
    assert "hello s3cret" in printed
    assert [e.intervention.kind.value for e in lab.events(InterventionSeen)] == ["typed_input"]
    assert "s3cret" not in read_journals(lab.path)[0].path.read_text()
    lab.run("from jupyter_clusterbridge.app.record import stop_recording\nstop_recording(get_ipython())")
    code = "k = get_ipython().kernel\nprint('raw_input' in vars(k), 'getpass' in vars(k))"
    assert lab.run(code) == "False False\n"


@pytest.mark.parametrize("code", ["import time\ntime.sleep(30)", "import asyncio\nawait asyncio.sleep(4)"])
def test_an_interrupted_cell_is_recorded_as_such(lab, code):
    lab.run(LOAD, "load")
    sent = lab.send(code, "a")
    time.sleep(1.5)
    lab.manager.interrupt_kernel()
    lab.finish(sent)
    lab.run("x = 1", "b")
    assert [e.status for e in lab.events(CellEnd)] == ["ok", "interrupted", "ok"]


def test_a_restart_and_a_kill_show_in_the_check(lab):
    lab.run(LOAD, "load")
    lab.run("x = 1", "a")
    lab.send("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "b")
    end = time.monotonic() + WAIT_S
    while lab.manager.is_alive() and time.monotonic() < end:
        time.sleep(0.1)
    lab.client.stop_channels()
    lab.manager.restart_kernel(now=True)
    lab.connect()
    lab.run(LOAD, "load")
    lab.run("x = 1", "a")
    lab.save(load=LOAD, a="x = 1", b="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    journals = read_journals(lab.path)
    report = check_notebook(read_notebook(lab.path), journals)
    assert len(journals) == 2
    assert len({journal.start.kernel_id for journal in journals}) == 2
    assert [cell.state.value for cell in report.cells] == ["current", "current", "diverged"]
    [death] = report.interventions
    assert (death.kind.value, death.cell_id) == ("kernel_restart", "b")
    assert re.match(r"the kernel died in cell 2 at 0\.\d GB, or was killed there$", death.message)
    assert death.remedy.startswith("run it again")


def test_the_extension_loads_twice_reloads_and_unloads_without_a_trace(lab):
    count = "print(sum('lusterbridge' in repr(c) for g in get_ipython().events.callbacks.values() for c in g))"
    assert lab.run(count) == "0\n"
    lab.run("%load_ext clusterbridge", "load")
    once = lab.run(count)
    lab.run("%load_ext clusterbridge", "load")
    assert lab.run(count) == once != "0\n"
    lab.run("%reload_ext clusterbridge", "load")
    assert lab.run(count) == once
    lab.run("%unload_ext clusterbridge", "load")
    assert lab.run(count) == "0\n"
    assert "clusterbridge" not in lab.run("print([n for n in dir() if not n.startswith('_')])")
