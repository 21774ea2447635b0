"""Notebooks, locks and journals for the tests of export."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from export_parts import fixed_lock

from jupyter_clusterbridge.export.bundle import BundleInput, WrittenBundle, write_bundle
from jupyter_clusterbridge.export.notebook import read_raw
from jupyter_clusterbridge.export.parameters import apply_values
from jupyter_clusterbridge.model.lock import BaseImage

MakeNotebook = Callable[..., Path]
Export = Callable[..., WrittenBundle]


@pytest.fixture
def make_notebook(tmp_path: Path) -> MakeNotebook:
    """Write a notebook of code cells; a cell that starts with ``#tag`` is tagged ``parameters``."""

    def make(*sources: str, name: str = "nb.ipynb", folder: str = "work", minor: int = 5) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_document(sources, minor)))
        return path

    return make


def _document(sources: Sequence[str], minor: int) -> dict[str, object]:
    cells = []
    for index, source in enumerate(sources):
        tags = ["parameters"] if source.startswith("#tag") else []
        cell: dict[str, object] = {
            "cell_type": "code",
            "metadata": {"tags": tags, "scrolled": True, "execution": {"iopub.status.busy": "2026"}},
            "source": source.splitlines(keepends=True),
            "execution_count": index + 7,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["printed\n"]}],
        }
        if minor >= 5:
            cell["id"] = f"c{index}"
        cells.append(cell)
    metadata = {"kernelspec": {"name": "python3", "display_name": "Own"}, "widgets": {"state": {}}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Write the bundle of a notebook with a fixed lock and no journal."""

    def run(path: Path, output: Path | None = None, given: dict[str, str] | None = None, **parts: object):
        notebook, raw = read_raw(path)
        return write_bundle(
            BundleInput(
                notebook=notebook,
                raw=raw,
                lock=fixed_lock(),
                base_image=BaseImage("python:3.11.7-slim"),
                parameters=apply_values(notebook, given or {}),
                **parts,  # type: ignore[arg-type]
            ),
            output or tmp_path / "bundle",
        )

    return run
