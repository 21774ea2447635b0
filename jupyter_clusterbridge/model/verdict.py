"""What compare says."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from jupyter_clusterbridge.model.identity import Identity


class Verdict(str, enum.Enum):
    """Whether two runs are one model."""

    SAME = "same"
    DIFFERENT = "different"
    CANNOT_TELL = "cannot_tell"


class Link(str, enum.Enum):
    """Links of the causal chain, in causal order."""

    CODE = "code"
    ENVIRONMENT = "environment"
    DATA_FILE = "data_file"
    LISTING_ORDER = "listing_order"
    INDEX_ORDER = "index_order"
    BATCH_CONTENT = "batch_content"
    RNG = "rng"
    INITIAL_WEIGHTS = "initial_weights"
    LOSS = "loss"
    METRIC = "metric"
    OUTPUT = "output"


@dataclass(frozen=True)
class Difference:
    """One difference between two runs."""

    link: Link
    where: str
    """The place in words, for example ``cell 3, epoch 0, batch 12`` or ``numpy``."""
    baseline: str
    run: str


@dataclass(frozen=True)
class IdentityPair:
    """The identities of both sides; None when a side has none."""

    baseline: Identity | None
    run: Identity | None


@dataclass(frozen=True)
class Comparison:
    """The report of ``clusterbridge compare``."""

    SCHEMA: ClassVar[str] = "clusterbridge/compare/1"

    verdict: Verdict
    summary: str
    """One sentence that a person understands."""
    first_difference: Difference | None
    differences: tuple[Difference, ...]
    identity: IdentityPair
    notes: tuple[str, ...] = ()
    """What does not decide but should be known: interventions, other hardware, what was not compared."""
