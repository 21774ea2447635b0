"""Reports as short lines of plain text that read well at a terminal and in a cell's output."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.findings import Finding, LintReport, Severity
from jupyter_clusterbridge.model.state import CellReport, CellState, CheckReport
from jupyter_clusterbridge.model.verdict import Comparison
from jupyter_clusterbridge.recorder.interventions import by_consequence
from jupyter_clusterbridge.recorder.reasons import listed, sentences

_NAMED = 5
"""How many alike things are named that ask for nothing."""


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
            and what a person did that asks for no remedy. Otherwise what a person did stands in the order of
            consequence, and not in that of time.
    """
    yield from cell_lines(report, unsafe=unsafe)
    yield from intervention_lines(report, harmless=unsafe)


def intervention_lines(report: CheckReport, *, harmless: bool) -> Iterator[str]:
    """What a person did that a job will not do, with the remedy below those that share it.

    Args:
        report: what check found.
        harmless: whether all of it is told, in the order of time; else what asks for a remedy, gravest first.
    """
    told = report.interventions if harmless else by_consequence(report.interventions)
    told = tuple(one for one in told if harmless or not one.harmless)
    for (kind, remedy), group in itertools.groupby(told, key=lambda one: (one.kind, one.remedy)):
        alike = list(group)
        named = alike[:_NAMED] if alike[0].harmless else alike
        yield from (f"{kind.value.replace('_', ' ')}: {one.message}" for one in named)
        if len(alike) > len(named):
            yield f"{kind.value.replace('_', ' ')}: {len(alike) - len(named)} more like these"
        yield f"    {remedy}"


def cell_lines(report: CheckReport, *, unsafe: bool) -> Iterator[str]:
    """The states of the cells; see :func:`check_lines`."""
    if not report.recorded:
        yield "Nothing was recorded for this notebook; load the extension with: %load_ext clusterbridge"
        return
    current = sum(cell.state is CellState.CURRENT for cell in report.cells)
    yield f"{current} of {len(report.cells)} code cells are as a clean run would leave them."
    told = [
        cell
        for cell in report.cells
        if cell.state in (CellState.DIVERGED, CellState.EDITED) or (cell.unsafe_to_rerun and unsafe)
    ]
    for lines, group in itertools.groupby(told, key=_cell_lines):
        yield f"{_numbered([cell.cell_index for cell in group])}: {lines[0]}"
        yield from (f"    {line}" for line in lines[1:])
    never = [cell.cell_index for cell in report.cells if cell.state is CellState.NEVER_RUN]
    if never:
        yield f"{_numbered(never, [cell.cell_index for cell in report.cells])}: never run"
    yield from _untracked(report)


def _cell_lines(cell: CellReport) -> tuple[str, ...]:
    """State of a cell, then each cause once, and after those that share it the remedy."""
    state = "current" if cell.state is CellState.NOT_TRACKED else cell.state.value.replace("_", " ")
    lines = [state + (", unsafe to rerun" if cell.unsafe_to_rerun else "")]
    for remedy, group in itertools.groupby(cell.reasons, key=lambda reason: reason.remedy):
        lines.extend(sentences(group))
        lines.extend([f"-> {remedy}"] if remedy else [])
    return tuple(lines)


def _untracked(report: CheckReport) -> Iterator[str]:
    """What could not be followed, once for all cells."""
    found = sorted({location for cell in report.cells for location in cell.untracked})
    if not found:
        return
    cells = [cell.cell_index for cell in report.cells if cell.untracked]
    yield f"not tracked: {listed(found)}, too large to be compared in the time that a cell may cost"
    yield f"    whether {_numbered(cells)} found what a clean run gives is not known"


def _numbered(numbers: Sequence[int], every: Sequence[int] | None = None) -> str:
    """Numbers of cells, neighbours together.

    >>> _numbered([3]), _numbered([1, 2, 3, 7])
    ('cell 3', 'cells 1 to 3, 7')
    """
    order = {number: place for place, number in enumerate(every or range(numbers[-1] + 1))}
    parts: list[str] = []
    for _, group in itertools.groupby(enumerate(numbers), key=lambda pair: order[pair[1]] - pair[0]):
        first, *rest = (number for _, number in group)
        parts.append(f"{first} to {rest[-1]}" if rest else str(first))
    return f"{'cell' if len(numbers) == 1 else 'cells'} {', '.join(parts)}"


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
