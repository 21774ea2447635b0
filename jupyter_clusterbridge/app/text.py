"""Reports as short lines of plain text that read well at a terminal and in a cell's output."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.findings import Finding, LintReport, Severity
from jupyter_clusterbridge.model.state import CellState, CheckReport
from jupyter_clusterbridge.model.verdict import Comparison


def counted(number: int, word: str) -> str:
    """A number with its word.

    >>> counted(1, "cell"), counted(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """One block a finding: place, code and message, then the remedy; a count at the end."""
    for finding in findings:
        yield f"{_place(finding)}: {finding.code} {finding.severity.value} {finding.message}"
        yield f"    {finding.remedy}"
    yield count_findings(findings)


def lint_lines(report: LintReport) -> Iterator[str]:
    """A lint report: the findings, and what was or can be fixed."""
    lines = list(finding_lines(report.findings))
    yield from lines[:-1]
    if report.fixed is not None:
        yield f"Fixed: {report.fixed}. Left: {lines[-1][:1].lower()}{lines[-1][1:]}"
        return
    fixable = sum(finding.fix is not None for finding in report.findings)
    yield f"{lines[-1]} With --fix: {fixable} fewer." if fixable else lines[-1]


def count_findings(findings: Sequence[Finding]) -> str:
    """The closing line of a list of findings."""
    if not findings:
        return "No findings."
    counts = [
        counted(number, severity.value) if severity is not Severity.INFO else f"{number} info"
        for severity in Severity
        if (number := sum(finding.severity is severity for finding in findings))
    ]
    return f"{counted(len(findings), 'finding')}: {', '.join(counts)}."


def _place(finding: Finding) -> str:
    if finding.file_line is not None:
        return f"{finding.path}:{finding.file_line}"
    parts = [finding.path]
    if finding.cell_index is not None:
        parts.append(f"cell {finding.cell_index}")
    if finding.line is not None:
        parts.append(f"line {finding.line}")
    return ":".join(parts)


def check_lines(report: CheckReport, *, unsafe: bool = True) -> Iterator[str]:
    """The state part of a check, one line each.

    Args:
        report: what check found.
        unsafe: whether the harmless is named too: cells whose only mark is that they should not be run again,
            and what a person did that asks for no remedy.
    """
    if not report.recorded:
        yield "Nothing was recorded for this notebook; load the extension with: %load_ext clusterbridge"
        return
    current = sum(cell.state is CellState.CURRENT for cell in report.cells)
    yield f"{current} of {len(report.cells)} code cells are as a clean run would leave them."
    for cell in report.cells:
        if cell.state is CellState.CURRENT and not (cell.unsafe_to_rerun and unsafe):
            continue
        if cell.state is CellState.NEVER_RUN:
            continue
        mark = ", unsafe to rerun" if cell.unsafe_to_rerun else ""
        yield f"cell {cell.cell_index}: {cell.state.value.replace('_', ' ')}{mark}"
        yield from (f"    {reason.message}" for reason in cell.reasons)
    yield from _never_run(report)
    for intervention in report.interventions:
        if not unsafe and intervention.remedy.startswith("nothing to do"):
            continue
        yield f"{intervention.kind.value.replace('_', ' ')}: {intervention.message}"
        yield f"    {intervention.remedy}"


def _never_run(report: CheckReport) -> Iterator[str]:
    """The cells that never ran, neighbours together."""
    runs = itertools.groupby(report.cells, key=lambda cell: cell.state is CellState.NEVER_RUN)
    parts: list[str] = []
    for never, group in runs:
        if never:
            first, *rest = (cell.cell_index for cell in group)
            parts.append(f"{first} to {rest[-1]}" if rest else str(first))
    if parts:
        yield f"{'cell' if parts[0].isdigit() and len(parts) == 1 else 'cells'} {', '.join(parts)}: never run"


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison as a short table."""
    yield f"verdict   {comparison.verdict.value.replace('_', ' ')}"
    yield f"          {comparison.summary}"
    baseline, run = comparison.identity.baseline, comparison.identity.run
    if baseline is not None and run is not None:
        for name in ("code", "env", "data", "order", "seeds"):
            one, two = getattr(baseline, name), getattr(run, name)
            yield f"{name:<10}{short(one)}  {'=' if one == two else '!='}  {short(two)}"
    for number, difference in enumerate(comparison.differences, start=1):
        yield f"{number:>3}. {difference.link.value:<16} {difference.where}"
        yield f"     {difference.baseline}  ->  {difference.run}"
    for note in comparison.notes:
        yield f"note      {note}"


def export_lines(
    folder: Path, manifest: BundleManifest, findings: Sequence[Finding], warnings: Sequence[str]
) -> Iterator[str]:
    """What an export wrote and what it could not know."""
    image = manifest.base_image
    yield f"bundle    {folder}"
    yield f"model     {short(manifest.identity.model)}"
    yield f"packages  {len(manifest.lock.packages)} locked for {manifest.lock.platform}"
    yield f"image     {image.ref}{' (floating: no digest is known)' if image.floating else ''}"
    yield f"baseline  {'recorded' if manifest.has_baseline else 'none: a verdict will say that it cannot tell'}"
    notes = (*warnings, *manifest.unknown, *manifest.lock.warnings, *manifest.lock.known_differences)
    yield from (f"note      {text}" for text in dict.fromkeys(notes))
    yield f"lint      {count_findings(findings)}"
