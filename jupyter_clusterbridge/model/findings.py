"""What lint says: findings and the report that the command prints."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import ClassVar


class Severity(str, enum.Enum):
    """How much a finding matters for an unattended job."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(str, enum.Enum):
    """How sure the rule is that the finding is real."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Edit:
    """Text that takes the place of a part of one cell's source."""

    start_line: int
    """Line in the cell, from 1."""
    start_column: int
    """Characters before the place in its line, from 0."""
    end_line: int
    end_column: int
    """Characters before the first one that stays."""
    text: str


@dataclass(frozen=True)
class Fix:
    """A change of one cell that removes a finding and is safe to make unseen."""

    message: str
    """What the change does, as an instruction."""
    edits: tuple[Edit, ...]
    """In order, without overlap."""


@dataclass(frozen=True)
class Finding:
    """One place in one notebook that a cluster will not forgive."""

    path: str
    code: str
    """Rule code, for example ``CB101``."""
    name: str
    """Rule name in kebab case, for example ``unseeded-rng``."""
    cell_id: str | None
    cell_index: int | None
    """Position among all cells of the file, from 0."""
    line: int | None
    """Line in the cell, from 1."""
    severity: Severity
    confidence: Confidence
    message: str
    remedy: str
    fix: Fix | None = field(default=None, metadata={"omit_none": True})
    """Only where one is safe: the notebook does the same as before, or is strictly more deterministic."""
    file_line: int | None = field(default=None, metadata={"omit_none": True})
    """Line of the file as it lies on disk, from 1, where that was asked for."""


@dataclass(frozen=True)
class LintReport:
    """All findings of one lint run."""

    SCHEMA: ClassVar[str] = "clusterbridge/lint/1"

    findings: tuple[Finding, ...] = ()
    files: int | None = field(default=None, metadata={"omit_none": True})
    """How many files were looked at."""
    fixed: int | None = field(default=None, metadata={"omit_none": True})
    """Where fixes were asked for: how many fixes were made; the findings are what is left."""

    @property
    def has_errors(self) -> bool:
        """Whether any finding is of error level."""
        return self.reaches(Severity.ERROR)

    def reaches(self, level: Severity) -> bool:
        """Whether any finding is of a level or of a worse one."""
        order = list(Severity)
        return any(order.index(finding.severity) <= order.index(level) for finding in self.findings)
