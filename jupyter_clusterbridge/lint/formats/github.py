"""Annotations of GitHub Actions: workflow commands on standard output."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_clusterbridge.model.findings import Finding, LintReport, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(report: LintReport) -> Iterator[str]:
    """One annotation a finding, at the line of the file as it lies in the repository."""
    for finding in report.findings:
        properties = {"file": finding.path, "title": f"{finding.code} {finding.name}"}
        if finding.file_line is not None:
            properties["line"] = str(finding.file_line)
        listed = ",".join(f"{key}={_property(value)}" for key, value in sorted(properties.items()))
        yield f"::{_COMMANDS[finding.severity]} {listed}::{_data(f'{place_in_cell(finding)}{finding.message}')}"


def place_in_cell(finding: Finding) -> str:
    """``cell 3 line 2: `` in front of a message about a notebook, whose file's lines nobody knows by heart."""
    if finding.cell_index is None or finding.path.endswith(".py"):
        return ""
    line = "" if finding.line is None else f" line {finding.line}"
    return f"cell {finding.cell_index}{line}: "


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
