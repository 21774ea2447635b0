"""A notebook that was renamed keeps what was recorded of it, and another of its old name does not get it."""

from __future__ import annotations

import json
import shutil

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.app.record import recorded_notebook, start_recording, stop_recording
from jupyter_clusterbridge.model.errors import NotebookUnreadable


def states(path):
    report = check_notebook_file(path)
    return "".join(cell.state.value[0] for cell in report.cells), report.recorded


def write(path, **cells):
    body = [{"cell_type": "code", "id": i, "source": s, "metadata": {}, "outputs": []} for i, s in cells.items()]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": body}))


def test_a_renamed_notebook_keeps_its_journal(bench, tmp_path):
    one = bench("x = 1", "x += 1").run(*"abb")
    one.save()
    one.path.rename(tmp_path / "better name.ipynb")
    assert states(tmp_path / "better name.ipynb") == ("cd", True)


def test_what_ran_before_and_after_the_new_name_counts_together(bench, tmp_path):
    one = bench("x = 1", "y = x").run("a")
    one.close()
    one.save()
    new = tmp_path / "new.ipynb"
    one.path.rename(new)
    one.recorder.start(new)
    one.run("b")
    assert states(new) == ("cc", True)


def test_another_notebook_of_the_old_name_does_not_get_the_journal(bench, tmp_path):
    one = bench("x = 1").run("a")
    one.save()
    one.path.rename(tmp_path / "new.ipynb")
    write(one.path, q="z = 5")
    assert states(one.path) == ("n", False)
    assert states(tmp_path / "new.ipynb") == ("c", True)


def test_a_copy_of_a_notebook_does_not_take_its_journal(bench, tmp_path):
    one = bench("x = 1").run("a")
    one.save()
    shutil.copy(one.path, tmp_path / "copy.ipynb")
    assert states(tmp_path / "copy.ipynb") == ("n", False)
    assert states(one.path) == ("c", True)


def test_the_magic_finds_the_notebook_under_its_new_name(bench, tmp_path, monkeypatch):
    one = bench("x = 1")
    one.close()
    start_recording(one.shell, one.path)
    one.run("a")
    one.path.rename(tmp_path / "new.ipynb")
    assert recorded_notebook(one.shell) == tmp_path / "new.ipynb"
    (tmp_path / "new.ipynb").unlink()
    with pytest.raises(NotebookUnreadable):
        recorded_notebook(one.shell)
    stop_recording(one.shell)
