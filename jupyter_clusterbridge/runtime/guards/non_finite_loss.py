"""Trips when the loss is NaN or infinite."""

from __future__ import annotations

import math
from typing import ClassVar

from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy, GuardTrip
from jupyter_clusterbridge.runtime.guard import Guard, Observation


class NonFiniteLoss(Guard):
    """A person sees ``nan`` in the progress bar and stops; a job would train on for hours.

    Threshold ``consecutive``: how many losses in a row must be NaN or infinite (1: the first one trips).
    False alarms: none on losses that are finite; a loss that is infinite by design needs ``off``.

    >>> guard = NonFiniteLoss()
    >>> guard.observe(Observation(at=0.0, step=6, loss=0.25)) is None
    True
    >>> guard.observe(Observation(at=0.1, step=7, loss=float("nan"))).message
    'the loss at step 7 is nan'
    """

    name: ClassVar[str] = "non_finite_loss"
    default: ClassVar[GuardPolicy] = GuardPolicy(GuardAction.STOP, {"consecutive": 1.0})

    def __init__(self, policy: GuardPolicy | None = None) -> None:
        super().__init__(policy)
        self._in_a_row = 0

    def observe(self, observation: Observation) -> GuardTrip | None:
        """Take one loss; trips once, and again only after a finite loss was seen."""
        loss = observation.loss
        if loss is None:
            return None
        if math.isfinite(loss):
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        needed = self.thresholds["consecutive"]
        if self._in_a_row != max(1, math.ceil(needed)):
            return None
        where = "" if observation.step is None else f" at step {observation.step}"
        message = f"the loss{where} is {loss}"
        if self._in_a_row > 1:
            message += f", the {self._in_a_row}th in a row that is not finite"
        return self.trip(message, step=observation.step, value=loss, threshold=needed)
