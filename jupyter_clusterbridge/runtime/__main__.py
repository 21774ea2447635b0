"""``python -m jupyter_clusterbridge.runtime``: run a bundle as a job, or replay a notebook.

The exit code says how the job ended; ``status.json`` in the run directory says the same in words.
"""

from __future__ import annotations

import signal
import sys

_early: list[int] = []


def _hold_signals() -> None:
    """Keep a signal that comes while the imports run, for the supervisor to answer."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: _early.append(received))


if __name__ == "__main__":
    _hold_signals()
    from jupyter_clusterbridge.runtime.entry import main

    sys.exit(main(sys.argv[1:], _early))
