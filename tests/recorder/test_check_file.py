"""Checking a file: its journals, what lint says, and files that cannot be read."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.errors import JournalUnreadable, NotebookUnreadable


def test_a_file_is_checked_against_its_journals_and_linted(bench):
    one = bench("import numpy as np", "x = 0", "x += 1").run("b", "c", "c")
    one.save()
    report = check_notebook_file(one.path)
    assert report.recorded
    assert [cell.state.value for cell in report.cells] == ["never_run", "current", "diverged"]
    data = to_json(report)
    assert {"schema", "cells", "interventions", "findings"} <= data.keys()
    assert set(data["cells"][2]) == {"cell_id", "cell_index", "state", "unsafe_to_rerun", "reasons", "untracked"}
    assert set(data["cells"][2]["reasons"][0]) == {"kind", "name", "cell_id", "message", "remedy"}
    assert set(data["interventions"][0]) == {"kind", "cell_id", "message", "remedy", "at"}


def test_a_torn_last_line_is_no_error_and_a_foreign_line_is_one(bench):
    one = bench("x = 0").run("a")
    one.save()
    journal = one.journals()[0].path
    with journal.open("a") as stream:
        stream.write('{"event": "cell_sta')
    assert check_notebook_file(one.path).cells[0].state.value == "current"
    journal.write_text(journal.read_text() + "\nnot ours\n")
    with pytest.raises(JournalUnreadable):
        check_notebook_file(one.path)


def test_a_missing_notebook_is_told(tmp_path):
    with pytest.raises(NotebookUnreadable):
        check_notebook_file(tmp_path / "none.ipynb")
