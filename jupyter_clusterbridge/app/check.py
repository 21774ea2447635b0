"""Check a notebook file: its journals against its saved cells, and what lint says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jupyter_clusterbridge.app.lint import rules_for
from jupyter_clusterbridge.app.nondeterminism import with_seen
from jupyter_clusterbridge.lint.runner import lint_notebook
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
    journals, rules = read_journals(path), rules_for(path)
    findings = with_seen(lint_notebook(notebook, rules), notebook, journals, rules)
    return dataclasses.replace(check_notebook(notebook, journals, path.absolute().parent), findings=findings)
