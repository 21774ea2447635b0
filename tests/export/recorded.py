"""A notebook with a local module, data and a journal, always the same to the byte."""

from __future__ import annotations

import json
from pathlib import Path

from jupyter_clusterbridge.model.canonical import digest_bytes
from jupyter_clusterbridge.model.environment import Distribution, Environment, SourceKind
from jupyter_clusterbridge.model.events import (
    ArtifactDeclared,
    CellEnd,
    CellStart,
    EnvironmentSeen,
    FileRead,
    FileWrite,
    KernelStart,
    Listing,
    MetricLogged,
)
from jupyter_clusterbridge.model.evidence import Row, RowKind, loss_bits
from jupyter_clusterbridge.runtime.journal import JournalWriter

DATA = b"x,y\n1,2\n"
CELLS = {
    "load-extension": "%load_ext clusterbridge",
    "settings": "SEED = 1\nRATE = 0.5\nDATA = 'data/points.csv'",
    "read": "import os\nimport helper\npoints = helper.read(DATA)\nos.listdir('data')\ntorch.manual_seed(SEED)",
    "train": "for point in points:\n    step(point)\ncb.metric('loss', 0.25)",
    "save": "open('model.bin', 'wb').write(b'1')\ncb.artifact('model.bin')\nopen('model.bin', 'rb').read()",
}
_AT = "2026-01-02T03:04:{:02d}.000000+00:00"


def write_recorded(folder: Path) -> Path:
    """Write the notebook, its files and its journal; returns the notebook's path."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "points.csv").write_bytes(DATA)
    (folder / "helper.py").write_text("def read(path):\n    return open(path).readlines()\n")
    (folder / "model.bin").write_bytes(b"1")
    path = folder / "Réseau de neurones.ipynb"
    path.write_text(json.dumps(_document()), "utf-8")
    _write_journal(folder, path)
    return path


def _document() -> dict[str, object]:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Réseau\nTwo\nlines"},
    ]
    for name, source in CELLS.items():
        tags = {"tags": ["parameters"]} if name == "settings" else {}
        out = [{"output_type": "stream", "name": "stdout", "text": "done\n"}] if name == "train" else []
        cells.append(
            {
                "cell_type": "code",
                "id": name,
                "metadata": {**tags, "collapsed": False},
                "source": source,
                "execution_count": 3,
                "outputs": out,
            }
        )
    return {"cells": cells, "metadata": {"vscode": {"x": 1}}, "nbformat": 4, "nbformat_minor": 5}


def _write_journal(folder: Path, path: Path) -> None:
    def fail(error: OSError) -> None:
        raise error

    writer = JournalWriter(folder / ".clusterbridge" / path.stem / "kernel-1.jsonl", fail)
    writer.write(KernelStart("kernel-1", "notebook", "3.11.7", _AT.format(0), notebook=path.name))
    events = {
        "read": [FileRead(3, "data/points.csv", len(DATA), digest_bytes(DATA)), Listing(3, "data", 1, "o", "s")],
        "train": [MetricLogged(4, "loss", 0.25)],
        "save": [FileWrite(5, "model.bin"), ArtifactDeclared(5, "model.bin"), FileRead(5, "model.bin", 1, "d")],
    }
    for run, (name, source) in enumerate(CELLS.items(), start=1):
        writer.write(CellStart(run, name, source, _AT.format(run), {"python": f"p{run}"}))
        for event in events.get(name, ()):
            writer.write(event)
        if name == "train":
            writer.row(Row(RowKind.BATCH, run, 0, 17, 18))
            writer.row(Row(RowKind.LOSS, run, 0, loss_bits(0.25), 1))
            writer.row(Row(RowKind.STEP, run, 0, 1, 0))
            writer.flush()
        writer.write(CellEnd(run, "ok", _AT.format(run), 0.5, {"python": f"p{run + 1}"}))
    writer.write(EnvironmentSeen(5, _environment(folder)))
    writer.close()


def _environment(folder: Path) -> Environment:
    numpy = Distribution("numpy", "2.0.0", loaded=True)
    own = Distribution("helper", "1", SourceKind.EDITABLE, origin=f"file://{folder}", loaded=True)
    return Environment("3.11.7", distributions=(own, numpy))
