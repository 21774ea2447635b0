"""Writing the environment into the journal when what is loaded or installed has changed."""

from __future__ import annotations

import logging
from collections.abc import Callable

from jupyter_clusterbridge.model.events import EnvironmentSeen, Event

_log = logging.getLogger(__name__)


class EnvironmentNote:
    """Asks the cheap change detector after each cell, and observes in full only when it has moved."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._last: int | None = None
        self._works = True

    def take(self, run: int) -> None:
        """Write the environment if it changed; never raises, a failure costs one line in the log."""
        if not self._works:
            return
        try:
            from jupyter_clusterbridge.runtime.environment import loaded_fingerprint, observe_environment

            found = loaded_fingerprint()
            if found != self._last:
                self._emit(EnvironmentSeen(run, observe_environment()))
                self._last = found
        except Exception:
            self._works = False
            _log.exception("the environment could not be observed")
