"""Guards inside the kernel: they see each loss and stop the user's cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy, GuardTrip
from jupyter_clusterbridge.runtime.guard import Observation
from jupyter_clusterbridge.runtime.guarding import KERNEL_GUARDS, append_trip, make_guards


class GuardTripped(BaseException):
    """Stops the cell in which a guard tripped.

    Derives from BaseException, as KeyboardInterrupt does, so that ``except Exception`` around a training
    step does not keep a broken run alive.
    """


class LossSource(Protocol):
    """What gives losses: a recording session."""

    def on_loss(self, observer: Callable[[int, float], None]) -> None:
        """Call ``observer(step, value)`` for each loss."""


def install_guards(source: LossSource, policies: Mapping[str, GuardPolicy], run_dir: Path) -> None:
    """Let the kernel's guards see each loss of the session."""
    guards = make_guards(KERNEL_GUARDS, policies)
    if not guards:
        return

    def observe(step: int, value: float) -> None:
        observation = Observation(at=time.monotonic(), step=step, loss=value)
        for guard in guards:
            trip = guard.observe(observation)
            if trip is not None:
                _act(trip, run_dir)

    source.on_loss(observe)


def _act(trip: GuardTrip, run_dir: Path) -> None:
    try:
        append_trip(run_dir, trip)
    except OSError as error:
        print(f"clusterbridge: guards.jsonl cannot be written ({error.strerror})", file=sys.stderr)
    text = f"clusterbridge: guard {trip.guard}: {trip.message}"
    if trip.action == GuardAction.STOP.value:
        raise GuardTripped(text)
    print(text, file=sys.stderr)
