"""The base of all rules, and the page that a rule's docstring is."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from dataclasses import dataclass
from typing import ClassVar

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.model.findings import Confidence, Finding, Fix, Severity
from jupyter_clusterbridge.runtime.source import Magic

SECTIONS = ("What it does", "Why it matters on a cluster", "Bad example", "Good example", "Remedy")
MARK = re.compile(r"[ \t]*# <-- here$", re.MULTILINE)
"""In a bad example, marks each line where the rule reports."""
CELL_BREAK = "# %%"
"""In an example, parts two cells."""

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class RulePage:
    """The parts of a rule's docstring."""

    summary: str
    sections: dict[str, str]

    @property
    def remedy(self) -> str:
        """The remedy as one paragraph, for a finding."""
        return " ".join(self.sections.get("Remedy", "").split())

    def examples(self, section: str) -> list[tuple[str, str]]:
        """Language and text of each fenced block of a section."""
        return [(match[1], match[2]) for match in _FENCE.finditer(self.sections.get(section, ""))]


def page_of(rule: type[Rule]) -> RulePage:
    """Split a rule's docstring into its summary and its ``## Heading`` sections."""
    return _page(rule.__doc__ or "")


@functools.cache
def _page(docstring: str) -> RulePage:
    parts = _HEADING.split(inspect.cleandoc(docstring))
    bodies = {title.strip(): body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    return RulePage(parts[0].strip(), bodies)


class Rule:
    """One check. A subclass lives in its own file under ``lint/rules/``; that alone registers it.

    The docstring has a summary and the sections of :data:`SECTIONS`; the documentation and the tests are made
    from it. A method named ``visit_<type of node>`` is called for each such node in the order of evaluation,
    in one walk that all rules share. An instance sees one notebook, so it may keep what it has seen.

    A rule that looks for certain calls names them in :attr:`calls` and :attr:`methods` and gets them in
    :meth:`visit_call`; one that looks for anything that needs a certain word in the source names the words in
    :attr:`words`. Both are looked up, so that a rule costs nothing in a notebook that gives it no work.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    """The level of most findings; a single one may be lower."""
    confidence: ClassVar[Confidence] = Confidence.HIGH
    words: ClassVar[frozenset[str]] = frozenset()
    """When not empty: the rule is left out for a notebook whose sources hold none of these texts."""
    calls: ClassVar[frozenset[str]] = frozenset()
    """Qualified names (``torch.compile``) or all below one (``sklearn.*``) whose calls the rule gets."""
    methods: ClassVar[frozenset[str]] = frozenset()
    """Last names as the source has them (``backward``), whatever they belong to, whose calls it gets too."""
    in_dead_code: ClassVar[bool] = False
    """Whether the rule also visits what never runs (``if False:``), such as a password that stands there."""

    def __init__(self, notebook: NotebookContext) -> None:
        self.notebook = notebook
        self.findings: list[Finding] = []

    def begin_cell(self, cell: CellContext) -> None:
        """Called before the walk over a cell; also for a cell that is not Python."""

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Called for each magic and shell escape of a cell, before the walk."""

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Called once for each call that :attr:`calls` or :attr:`methods` names; see ``cell.callee``."""

    def end_cell(self, cell: CellContext) -> None:
        """Called after the walk over a cell."""

    def end_notebook(self) -> None:
        """Called after the last cell."""

    def report(
        self,
        cell: CellContext,
        where: ast.AST | Magic | int | None,
        message: str,
        *,
        remedy: str | None = None,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> bool:
        """Add a finding at a node, a magic or a line, unless a comment silences it there.

        Returns:
            Whether the finding was added, for rules that report a cause once.
        """
        first, last = _lines(where)
        if cell.silences(self.code, first or 1, last or 1):
            return False
        self.findings.append(
            Finding(
                path=str(self.notebook.notebook.path),
                code=self.code,
                name=self.name,
                cell_id=cell.cell.id,
                cell_index=cell.cell.index,
                line=first,
                severity=severity or self.severity,
                confidence=confidence or self.confidence,
                message=message,
                remedy=remedy or page_of(type(self)).remedy,
                fix=fix,
            )
        )
        return True


def _lines(where: ast.AST | Magic | int | None) -> tuple[int | None, int | None]:
    if where is None or isinstance(where, int):
        return where, where
    if isinstance(where, Magic):
        return where.line, where.line
    first = int(getattr(where, "lineno", 1))
    # the body of a statement is not the place of the finding, but all lines of an expression are
    last = getattr(where, "end_lineno", None) if isinstance(where, (ast.expr, ast.keyword)) else None
    return first, int(last) if last else first
