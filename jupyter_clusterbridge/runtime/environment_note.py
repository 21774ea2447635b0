"""Writing the environment into the journal when it has changed."""

from __future__ import annotations

import logging
from collections.abc import Callable

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.events import EnvironmentSeen, Event

_log = logging.getLogger(__name__)


class EnvironmentNote:
    """Asks the cheap change detector after each cell, and observes in full only when it has moved."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._last: int | None = None
        self._written: Environment | None = None
        self._works = True

    def take(self, run: int) -> None:
        """Write the environment if it changed; never raises, a failure costs one line in the log."""
        if not self._works:
            return
        try:
            from jupyter_clusterbridge.runtime.environment import loaded_fingerprint, observe_environment

            found = loaded_fingerprint()
            if found != self._last:
                self._last = found
                self._write(run, observe_environment())
        except Exception:
            self._works = False
            _log.exception("the environment could not be observed")

    def _write(self, run: int, environment: Environment) -> None:
        if environment != self._written:  # not every import brings a distribution with it
            self._emit(EnvironmentSeen(run, environment))
            self._written = environment
