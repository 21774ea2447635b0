"""Check a notebook file: its journals against its saved cells, and what lint says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jupyter_clusterbridge.app.lint import findings_of
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.model.state import CheckReport
from jupyter_clusterbridge.recorder.check import check_notebook
from jupyter_clusterbridge.runtime.journal import read_journals


def check_notebook_file(path: Path) -> CheckReport:
    """Check a notebook file.

    Raises:
        NotebookUnreadable, NotebookTooOld, NotPython: the file is no notebook that we can read.
        JournalUnreadable, DocumentTooNew: a journal beside it is not ours, or of a newer version.
        ConfigInvalid: the project's settings of lint cannot be used.
    """
    notebook = read_notebook(path)
    report = check_notebook(notebook, read_journals(path))
    return dataclasses.replace(report, findings=findings_of(notebook))
