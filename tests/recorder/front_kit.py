"""A notebook in a real kernel, and what a front end sends when a person does something."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from live import LiveNotebook

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.model.state import Intervention

LOAD = "%load_ext clusterbridge"
WAIT_S = 60


class Front:
    """A notebook in a kernel; cells have the ids ``a``, ``b``, ...; the first loads the extension."""

    def __init__(self, folder: Path, *sources: str, ids: bool = True) -> None:
        self.path = folder / "work.ipynb"
        cells = [
            {
                "cell_type": "code",
                "id": chr(97 + i),
                "source": s,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, s in enumerate((LOAD, *(textwrap.dedent(source).strip() for source in sources)))
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        self.path.write_text(
            json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells})
        )
        self.live = LiveNotebook(self.path)
        self.live.__enter__()
        self.ids = ids

    def run(self, *ids: str) -> str:
        if self.ids:
            return "".join(self.live.run(one) for one in ids)
        return "".join(self.live.execute(self.live.cell(one).source) for one in ids)

    @property
    def client(self) -> Any:
        return self.live._client

    @property
    def manager(self) -> Any:
        return self.live._manager

    def send(self, cell_id: str, stdin: bool = False) -> str:
        """Begin a cell and do not wait."""
        content = {
            "code": self.live.cell(cell_id).source, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": stdin, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell_id})
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def answer(self, cell_id: str, *answers: str) -> None:
        """Run a cell that asks, and answer."""
        request = self.send(cell_id, stdin=True)
        for text in answers:
            self.client.get_stdin_msg(timeout=WAIT_S)
            self.client.input(text)
        self.wait(request)

    def wait(self, request: str) -> None:
        while self.client.get_shell_msg(timeout=WAIT_S)["parent_header"].get("msg_id") != request:
            pass

    def comm(self, comm_id: str, data: dict[str, Any]) -> None:
        """What the front end sends when a person moves a widget."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)

    def move(self, comm_id: str, **state: Any) -> None:
        self.comm(comm_id, {"method": "update", "state": state, "buffer_paths": []})

    def found(self, kind: str | None = None, harmless: bool = True) -> list[Intervention]:
        found = check_notebook_file(self.path).interventions
        return [one for one in found if kind in (None, one.kind.value) and (harmless or not one.harmless)]

    def one(self, kind: str) -> Intervention:
        [found] = self.found(kind)
        return found

    def journal(self) -> str:
        [path] = (self.path.parent / ".clusterbridge" / "work").glob("*.jsonl")
        return path.read_text()
