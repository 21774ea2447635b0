"""What torch itself said of its operations while the cells ran, as findings of CB201."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.lint.context import NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.runner import sort_findings
from jupyter_clusterbridge.model.events import NondeterminismSeen
from jupyter_clusterbridge.model.findings import Confidence, Finding, Severity
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.runtime.journal import Journal
from jupyter_clusterbridge.runtime.kept_runs import keep_runs

CODE = "CB201"
_SEEN = "seen at run time"


def with_seen(
    findings: Sequence[Finding], notebook: Notebook, journals: Sequence[Journal], rules: Sequence[type[Rule]]
) -> tuple[Finding, ...]:
    """Lint's findings together with the operations that torch warned of in the last run of each cell.

    Where lint has found the same line already, its finding becomes certain; else there is one more. A cell that
    was edited after its run says nothing, since its lines have moved.

    Args:
        findings: lint's.
        notebook: the saved file.
        journals: its journals; only those of the notebook side count.
        rules: the rules that take part; without CB201 nothing is added.
    """
    kind = next((rule for rule in rules if rule.code == CODE), None)
    seen = tuple(_seen(notebook, journals))
    if kind is None or not seen:
        return tuple(findings)
    certain: list[Finding] = list(findings)
    context = NotebookContext.of(notebook)
    rule = kind(context)
    for index, event in seen:
        place = next((n for n, one in enumerate(certain) if _is_same(one, index, event.line)), None)
        if place is not None:
            certain[place] = _certain(certain[place], event)
            continue
        cell = next(cell for cell in context.cells if cell.cell.index == index)
        rule.report(
            cell,
            event.line,
            f"`{event.operation}` has no deterministic implementation, {_SEEN}",
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
        )
    return sort_findings([*certain, *rule.findings])


def _seen(notebook: Notebook, journals: Sequence[Journal]) -> Iterator[tuple[int, NondeterminismSeen]]:
    """Each operation once for a line, with the index of its cell."""
    ours = [journal for journal in journals if journal.start.role == "notebook"]
    for index, run in keep_runs(notebook, ours).items():
        if run.start.source != run.cell.source:
            continue
        events = [event for event in run.events if isinstance(event, NondeterminismSeen)]
        yield from ((index, event) for event in dict.fromkeys(dataclasses.replace(one, run=0) for one in events))


def _is_same(finding: Finding, index: int, line: int | None) -> bool:
    return finding.code == CODE and finding.cell_index == index and finding.line == line


def _certain(finding: Finding, event: NondeterminismSeen) -> Finding:
    severity = finding.severity if finding.severity is Severity.ERROR else Severity.WARNING
    message = finding.message
    if _SEEN not in message:
        message = f"{message}; {_SEEN} as `{event.operation}`"
    return dataclasses.replace(finding, severity=severity, confidence=Confidence.HIGH, message=message)
