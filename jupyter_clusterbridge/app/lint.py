"""The use case of ``clusterbridge lint``: findings over files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_clusterbridge.lint.runner import lint_notebook, unreadable
from jupyter_clusterbridge.model.errors import NotebookTooOld, NotebookUnreadable, NotPython
from jupyter_clusterbridge.model.findings import Finding, LintReport
from jupyter_clusterbridge.model.notebook import read_notebook


def lint_notebooks(paths: Sequence[Path]) -> LintReport:
    """Lint notebooks in the order given; one that cannot be read is a finding of its own (CB001)."""
    findings: list[Finding] = []
    for path in paths:
        try:
            notebook = read_notebook(path)
        except (NotebookUnreadable, NotebookTooOld, NotPython) as error:
            findings.append(unreadable(path, error))
            continue
        findings.extend(lint_notebook(notebook))
    return LintReport(tuple(findings))
