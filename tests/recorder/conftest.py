"""A notebook and the kernel that a person drives it with, for transcripts."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_clusterbridge.model.notebook import Notebook, read_notebook
from jupyter_clusterbridge.model.state import CellReport, CheckReport
from jupyter_clusterbridge.recorder.check import check_notebook
from jupyter_clusterbridge.recorder.recorder import Recorder
from jupyter_clusterbridge.runtime.journal import Journal, read_journals


class Bench:
    """A saved notebook beside a live shell with a recorder.

    Cells have the ids ``a``, ``b``, ``c``, ... in file order.
    """

    def __init__(self, folder: Path, *sources: str) -> None:
        self.path = folder / "work.ipynb"
        self.cells: dict[str, str] = {chr(ord("a") + i): source for i, source in enumerate(sources)}
        self.told: list[str] = []
        self.shell: Any = None
        self.recorder: Recorder | None = None
        self.results: list[Any] = []
        self.save()
        self.start()

    def start(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.HistoryManager.hist_file = ":memory:"
        self.shell = InteractiveShell(config=config)
        # hundreds of shells would each collect garbage when the test process ends, for minutes
        atexit.unregister(self.shell.atexit_operations)
        self.recorder = Recorder(self.shell, self.told.append)
        self.recorder.start(self.path)

    def restart(self) -> None:
        """A fresh kernel; its id differs because a restart makes a new process."""
        self.close()
        self.start()

    def close(self) -> None:
        if self.recorder is not None:
            self.recorder.stop()

    def run(self, *ids: str) -> Bench:
        """Run cells one after the other; ``*`` stands for all in file order."""
        for cell_id in [one for given in ids for one in (list(self.cells) if given == "*" else [given])]:
            self.results.append(self.shell.run_cell(self.cells[cell_id], store_history=True, cell_id=cell_id))
        return self

    def edit(self, cell_id: str, source: str) -> Bench:
        self.cells[cell_id] = source
        return self

    def delete(self, cell_id: str) -> Bench:
        del self.cells[cell_id]
        return self

    def save(self) -> Notebook:
        cells = [
            {"cell_type": "code", "id": cell_id, "source": source, "metadata": {}, "outputs": []}
            for cell_id, source in self.cells.items()
        ]
        text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
        self.path.write_text(text, encoding="utf-8")
        return read_notebook(self.path)

    def journals(self) -> tuple[Journal, ...]:
        return read_journals(self.path)

    def check(self) -> CheckReport:
        return check_notebook(self.save(), self.journals())

    def states(self) -> str:
        """One letter a cell: c(urrent), d(iverged), e(dited), n(ever run)."""
        return "".join(cell.state.value[0] for cell in self.check().cells)

    def cell(self, cell_id: str) -> CellReport:
        return next(cell for cell in self.check().cells if cell.cell_id == cell_id)

    def kinds(self) -> list[str]:
        return [one.kind.value for one in self.check().interventions]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a :class:`Bench` from cell sources."""
    main = sys.modules["__main__"]
    made: list[Bench] = []
    count = iter(range(1000))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "jupyter_clusterbridge.recorder.recorder.kernel_id", lambda shell: f"kernel-{os.getpid()}-{next(count):03}"
    )

    def make(*sources: str) -> Bench:
        made.append(Bench(tmp_path, *sources))
        return made[-1]

    yield make
    for one in made:
        one.close()
    sys.modules["__main__"] = main


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Any]:
    """Makes a :class:`front_kit.Front` from cell sources."""
    from front_kit import Front

    made: list[Front] = []

    def make(*sources: str, ids: bool = True) -> Front:
        made.append(Front(tmp_path, *sources, ids=ids))
        return made[-1]

    yield make
    for one in made:
        one.live.__exit__(None, None, None)
