"""Trips when training has stopped making steps."""

from __future__ import annotations

import statistics
from collections import deque
from typing import ClassVar

from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy, GuardTrip
from jupyter_clusterbridge.runtime.guard import Guard, Observation

_WINDOW = 64


class Stall(Guard):
    """A deadlocked loader or a hung collective keeps the job and its GPU, and no step is made.

    Within one cell, after ``min_steps`` optimizer steps, no further step for the longest of: ``floor_s``
    seconds, ``factor`` times the usual time of a step, ``gap_factor`` times the longest pause that training
    came back from (an evaluation, a checkpoint). The floor is that of torch's own process groups, ten minutes:
    an evaluation after the last step of a cell looks like a stall, and must fit into it.
    """

    name: ClassVar[str] = "stall"
    default: ClassVar[GuardPolicy] = GuardPolicy(
        GuardAction.STOP, {"factor": 50.0, "floor_s": 600.0, "gap_factor": 3.0, "min_steps": 5.0}
    )

    def __init__(self, policy: GuardPolicy | None = None) -> None:
        super().__init__(policy)
        self.begin_cell()

    def begin_cell(self) -> None:
        """Forget the steps of the cell before: no step is expected until some were made."""
        self._step: int | None = None
        self._at = 0.0
        self._seen = 0
        self._longest = 0.0
        self._step_times: deque[float] = deque(maxlen=_WINDOW)
        self._tripped = False

    def observe(self, observation: Observation) -> GuardTrip | None:
        """Take the step number at a time; meant to be called about once a second."""
        if observation.step is None:
            return None
        if self._step is None or observation.step != self._step:
            self._progress(observation.at, observation.step)
            return None
        if self._tripped or self._seen < self.thresholds["min_steps"]:
            return None
        waited = observation.at - self._at
        limit = self.limit_s()
        if waited <= limit:
            return None
        self._tripped = True
        message = f"no step for {waited:.0f} s after step {self._step} (allowed: {limit:.0f} s)"
        return self.trip(message, step=self._step, value=waited, threshold=limit)

    def limit_s(self) -> float:
        """Seconds without a step that are allowed now."""
        usual = statistics.median(self._step_times) if self._step_times else 0.0
        return max(
            self.thresholds["floor_s"],
            self.thresholds["factor"] * usual,
            self.thresholds["gap_factor"] * self._longest,
        )

    def _progress(self, at: float, step: int) -> None:
        if self._step is not None and step > self._step:
            pause = at - self._at
            self._step_times.append(pause / (step - self._step))
            # the pause before the first step of a cell is preparation, not a pause of training
            if self._seen:
                self._longest = max(self._longest, pause)
            self._seen += step - self._step
        self._step, self._at, self._tripped = step, at, False
