"""Making all safe fixes of a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jupyter_clusterbridge.lint.fixes import apply_edits, without_overlap
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.lint.sources.base import SourceFile
from jupyter_clusterbridge.model.findings import Edit, Finding, Fix
from jupyter_clusterbridge.runtime.source import parse_once

_ROUNDS = 100
"""A fix may make room for another; a rule that reports a function once gives one fix in each round."""


@dataclass(frozen=True)
class FixedFile:
    """A file after its fixes."""

    source: SourceFile
    findings: tuple[Finding, ...]
    """What is left."""
    fixes: int
    """How many were made."""


def fix_source(source: SourceFile, rules: Sequence[type[Rule]]) -> FixedFile:
    """Make every fix that can be made, round by round, and lint what comes out.

    Of fixes that overlap the first is made, and the next round sees to the other. A fix after which a cell would
    no longer be Python is not made.
    """
    count = 0
    findings = lint_notebook(source.notebook, rules)
    for _ in range(_ROUNDS):
        edits, made = _edits(source, findings)
        if not made:
            break
        tried = source.edited(edits)
        left = lint_notebook(tried.notebook, rules)
        if _without_fixes(left) == _without_fixes(findings):
            break  # they mend nothing, and would be made again and again
        source, findings = tried, left
        count += made
    return FixedFile(source, findings, count)


def _without_fixes(findings: Iterable[Finding]) -> list[Finding]:
    # a stand-in id comes from the source, which a fix changes
    return [dataclasses.replace(finding, fix=None, cell_id=None) for finding in findings]


def _edits(source: SourceFile, findings: Iterable[Finding]) -> tuple[dict[int, list[Edit]], int]:
    """The edits of one round by cell, and how many fixes they are."""
    by_cell: dict[int, list[Fix]] = {}
    for finding in findings:
        if finding.fix is not None and finding.cell_index is not None:
            by_cell.setdefault(finding.cell_index, []).append(finding.fix)
    edits: dict[int, list[Edit]] = {}
    made = 0
    for index, fixes in by_cell.items():
        kept = _that_parse(source.notebook.cells[index].source, without_overlap(dict.fromkeys(fixes)))
        if kept:
            edits[index] = [edit for fix in kept for edit in fix.edits]
            made += len(kept)
    return edits, made


def _that_parse(cell: str, fixes: Sequence[Fix]) -> list[Fix]:
    kept: list[Fix] = []
    for fix in fixes:
        tried = [edit for other in [*kept, fix] for edit in other.edits]
        if parse_once(apply_edits(cell, tried)).tree is not None:
            kept.append(fix)
    return kept
