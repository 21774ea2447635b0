"""The run record: what one run did, in the same form for a notebook and a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.state import Intervention

RECORD_FILE = "record.json"
STEPS_FILE = "steps.bin"


@dataclass(frozen=True)
class CellRecord:
    """The last run of one code cell."""

    cell_id: str
    cell_index: int
    source_digest: str
    """Digest of the source that ran; the digest of the saved source when it never ran."""
    runs: int
    """How often it ran in the session; 0 when never."""
    status: str | None
    """``ok``, ``error``, ``interrupted``, ``exit``, or None when it never ran."""
    duration_s: float | None = None
    rng_before: Mapping[str, str] = field(default_factory=dict)
    rng_after: Mapping[str, str] = field(default_factory=dict)
    output_digest: str | None = None
    """Digest of the text outputs with times, addresses and progress bars taken out; None when unknown."""


@dataclass(frozen=True)
class FileRecord:
    """A data file that was read."""

    path: str
    size: int
    digest: str | None
    cell_index: int | None = None


@dataclass(frozen=True)
class ListingRecord:
    """A folder that was listed."""

    path: str
    count: int
    order_digest: str
    set_digest: str
    cell_index: int | None = None


@dataclass(frozen=True)
class MetricRecord:
    """One value of a metric."""

    name: str
    value: float
    step: int | None = None
    cell_index: int | None = None


@dataclass(frozen=True)
class ArtifactRecord:
    """A declared artifact at the end of the run."""

    path: str
    size: int | None
    """None when it was missing."""
    digest: str | None


@dataclass(frozen=True)
class RunRecord:
    """``record.json``; ``steps.bin`` beside it holds the dense evidence, ``where`` being the cell index."""

    SCHEMA: ClassVar[str] = "clusterbridge/record/1"

    role: str
    """``notebook``, ``job`` or ``baseline`` (a clean replay)."""
    cells: tuple[CellRecord, ...]
    """Code cells in file order."""
    environment: Environment | None
    parameters: Mapping[str, bool | int | float | str | None] = field(default_factory=dict)
    """Values of the tagged parameters in this run."""
    files: tuple[FileRecord, ...] = ()
    listings: tuple[ListingRecord, ...] = ()
    metrics: tuple[MetricRecord, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()
    steps: int = 0
    """Number of optimizer steps."""
    step_rows: int = 0
    """Rows in ``steps.bin``."""
    interventions: tuple[Intervention, ...] = ()
    """Those that make the recorded state unreachable for a clean run, and all others."""
    unreachable: tuple[str, ...] = ()
    """Why no clean run can reach what was recorded, one sentence each; empty when one can."""
    identity: Identity | None = None
    """Identity of the bundle that ran; None in a baseline that was not exported yet."""
