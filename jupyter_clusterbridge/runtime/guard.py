"""The interface of guards: a check that runs beside training in the job."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_clusterbridge.model.run import GuardPolicy, GuardTrip


@dataclass(frozen=True)
class Observation:
    """What a guard is shown; each guard takes what concerns it."""

    at: float
    """Seconds on a clock that never goes back."""
    step: int | None = None
    """Optimizer steps so far."""
    loss: float | None = None


class Guard(ABC):
    """One check. Pure logic: it sees observations and says when it trips; others act on it."""

    name: ClassVar[str]
    """Name in policies, in ``guards.jsonl`` and in ``CLUSTERBRIDGE_GUARD_<NAME>``."""
    default: ClassVar[GuardPolicy]
    """Policy where the bundle says nothing; names every threshold that the guard has."""

    def __init__(self, policy: GuardPolicy | None = None) -> None:
        self.policy = policy or self.default
        self.thresholds: Mapping[str, float] = {**self.default.thresholds, **self.policy.thresholds}

    @abstractmethod
    def observe(self, observation: Observation) -> GuardTrip | None:
        """Take one observation; a trip is returned once per incident."""

    def begin_cell(self) -> None:  # noqa: B027
        """A new cell begins; guards that compare within a cell start afresh."""

    def trip(
        self, message: str, *, step: int | None, value: float | None = None, threshold: float | None = None
    ) -> GuardTrip:
        """Build a trip of this guard with its action and the present time."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        return GuardTrip(self.name, self.policy.action.value, step, value, threshold, message, now)
