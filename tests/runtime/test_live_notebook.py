"""The executed notebook stays valid whatever a kernel sends, and joins streams as a front end does."""

from __future__ import annotations

import json
import time

import nbformat
import pytest
from job_kit import read_valid, write_notebook
from nbformat.v4 import new_code_cell, new_notebook, new_output

from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.runtime.notebook import CellRunner, LiveNotebook


@pytest.fixture
def live(tmp_path):
    return LiveNotebook(write_notebook(tmp_path / "training.ipynb", "1"), tmp_path / "executed.ipynb")


def _send(live, kind, **content):
    runner = getattr(live, "runner", None) or CellRunner(live)
    live.runner = runner
    message = {
        "msg_type": kind,
        "header": {"msg_type": kind},
        "parent_header": {"msg_id": "m"},
        "content": content,
    }
    runner.process_message(message, live.node.cells[1], 1)


def _text(live):
    return "".join(output.text for output in live.node.cells[1].outputs if output.output_type == "stream")


def test_text_of_one_stream_is_joined(live):
    for text in ("one ", "two\n", "three"):
        _send(live, "stream", name="stdout", text=text)
    assert len(live.node.cells[1].outputs) == 1
    assert _text(live) == "one two\nthree"


def test_what_a_progress_bar_overwrites_is_dropped(live):
    _send(live, "stream", name="stderr", text="start\n")
    for percent in range(0, 101, 10):
        _send(live, "stream", name="stderr", text=f"\r{percent}%")
    _send(live, "stream", name="stderr", text="\nend\n")
    assert _text(live) == "start\n100%\nend\n"


@pytest.mark.parametrize(
    ("data", "metadata"),
    [
        ({"text/plain": 5}, {}),
        ({"text/plain": ["a", "b"]}, None),
        ({"application/json": {"x": float("nan")}}, {"w": float("inf")}),
        (None, "no object"),
        ({"image/png": None, "text/html": {"a": 1}}, {}),
    ],
)
def test_a_display_that_the_format_does_not_allow_is_made_to_fit(live, data, metadata):
    _send(live, "display_data", data=data, metadata=metadata)
    live.save()
    read_valid(live.target)
    json.loads(live.target.read_bytes(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_old_outputs_are_gone_before_the_first_cell_runs(tmp_path):
    output = nbformat.v4.new_output("stream", text="old")
    cell = new_code_cell("1", execution_count=7, outputs=[output], metadata={"execution": {"x": "y"}})
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "a.ipynb")
    live = LiveNotebook(tmp_path / "a.ipynb", tmp_path / "executed.ipynb")
    live.save()
    (saved,) = read_valid(live.target).cells
    assert (saved.outputs, saved.execution_count, saved.metadata) == ([], None, {})


def test_a_notebook_without_cell_ids_keeps_its_format(tmp_path):
    notebook = {
        "cells": [
            {"cell_type": "code", "source": ["x = 1\n", "x"], "outputs": [], "execution_count": 1, "metadata": {}}
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 2,
    }
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    live = LiveNotebook(tmp_path / "a.ipynb", tmp_path / "executed.ipynb")
    live.save()
    saved = read_valid(live.target)
    assert saved.nbformat_minor == 2
    assert "id" not in saved.cells[0]
    assert live.node.cells[0].source == "x = 1\nx"


def test_a_file_that_is_no_valid_notebook_is_refused(tmp_path):
    broken = {"cells": [{"cell_type": "code", "source": "x", "metadata": {}, "id": "bad id!"}]}
    (tmp_path / "a.ipynb").write_text(json.dumps({**broken, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    with pytest.raises(NotebookUnreadable, match="not a valid notebook"):
        LiveNotebook(tmp_path / "a.ipynb", tmp_path / "executed.ipynb")


def test_a_long_line_before_a_progress_bar_takes_no_time_of_its_own(live):
    runner = CellRunner(live)
    outputs: list = []
    for text in ("begin\n", "x" * 400_000 + "\n\r 50%", "\r100%\n"):
        message = {
            "msg_type": "stream",
            "parent_header": {"msg_id": "1"},
            "content": {"name": "stdout", "text": text},
        }
        began = time.process_time()
        outputs[:] = outputs or [new_output("stream", name="stdout", text="")]
        runner.output(outputs, message, None, 0)
        # with a search that starts over at every character it was a minute
        assert time.process_time() - began < 5
    assert outputs[-1]["text"].endswith("x\n100%\n")
