"""One look at many values within a time limit: first in full, then by small samples, then not at all."""

from __future__ import annotations

from jupyter_clusterbridge.recorder.feeding import OutOfTime, clock, identity
from jupyter_clusterbridge.recorder.fingerprints import Blocks, Fingerprint, fingerprint, sample, weights

BUDGET_S = 0.005
"""Processor time of our own for the fingerprints of a cell."""
SHARE = 0.01
"""Part of the cell's own duration that is allowed where that is more; it is known only when the cell has ended."""
SAMPLING_S = 0.001
"""Processor time for samples when the budget is used up, 10 to 100 us each; the others are not looked at."""


class Look:
    """Fingerprints of values at one moment.

    Args:
        allowance_s: processor time in seconds.

    >>> before = Look(1.0)
    >>> box = [1]
    >>> first = before.at(box)
    >>> box.append(2)
    >>> first.digest == Look(1.0).again(box, first).digest
    False
    """

    def __init__(self, allowance_s: float) -> None:
        self._began = clock()
        self.deadline = self._began + allowance_s
        """Value of :data:`clock` at which the time is used up."""
        self._known: dict[int, Fingerprint] = {}
        self._blocks: Blocks = {}
        self._sampling_ends: float | None = None

    @property
    def spent_s(self) -> float:
        """Processor time since the look began."""
        return clock() - self._began

    @property
    def over(self) -> bool:
        """Whether the time is used up."""
        return clock() > self.deadline

    def at(self, value: object) -> Fingerprint | None:
        """A fingerprint: in full while there is time, of a sample after that; None when that is used up too.

        Two names of one object cost one fingerprint.
        """
        found = self._known.get(identity(value))
        if found is None:
            found = self._full(value) or self._sample(value)
            if found is not None:
                self._known[identity(value)] = found
        return found

    def again(self, value: object, before: Fingerprint) -> Fingerprint | None:
        """A fingerprint that can be held against an earlier one, of the same kind; None when there is no time."""
        return sample(value) if before.sampled else self.in_full(value)

    def in_full(self, value: object) -> Fingerprint | None:
        """A fingerprint of all of a value; None when there is no time."""
        found = self._known.get(identity(value)) or self._full(value)
        if found is not None:
            self._known[identity(value)] = found
        return found

    def weights(self, module: object) -> Fingerprint | None:
        """What a ``torch.nn.Module`` holds, but for the mode that its parts are in; None when there is no time."""
        try:
            return None if self.over else weights(module, self.deadline)
        except (OutOfTime, AttributeError, RuntimeError):
            return None

    def _full(self, value: object) -> Fingerprint | None:
        if self.over:
            return None
        try:
            return fingerprint(value, self.deadline, self._blocks)
        except OutOfTime:
            return None

    def _sample(self, value: object) -> Fingerprint | None:
        if self._sampling_ends is None:
            self._sampling_ends = clock() + SAMPLING_S
        return sample(value) if clock() <= self._sampling_ends else None


def allowance_after(budget_s: float, spent_s: float, duration_s: float) -> float:
    """Processor time in seconds for the look after a cell.

    Args:
        budget_s: what both looks may take together.
        spent_s: what the look before the cell took.
        duration_s: the cell's own duration.

    >>> allowance_after(0.005, 0.002, 0.1), allowance_after(0.005, 0.002, 10.0)
    (0.003, 0.1)
    """
    return max(budget_s - spent_s, SHARE * duration_s)
