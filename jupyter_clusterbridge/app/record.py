"""Start and stop recording in a live kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_clusterbridge.recorder.recorder import Recorder

_recorders: dict[int, Recorder] = {}
"""Active recorders by the identity of their shell: the shell itself gets no attribute of ours."""


def start_recording(shell: Any, notebook: Path | None = None) -> Recorder:
    """Begin to record a kernel; returns the recorder that is active already where there is one.

    Args:
        shell: the IPython shell.
        notebook: the notebook's file; found from the session when None.
    """
    recorder = current_recorder(shell)
    if recorder is None:
        recorder = Recorder(shell)
        _recorders[id(shell)] = recorder
        recorder.start(notebook)
    return recorder


def stop_recording(shell: Any) -> None:
    """End the recording of a kernel and leave no trace; does nothing where nobody records."""
    recorder = _recorders.pop(id(shell), None)
    if recorder is not None:
        recorder.stop()


def current_recorder(shell: Any) -> Recorder | None:
    """The recorder that is active in a kernel, if any."""
    recorder = _recorders.get(id(shell))
    return recorder if recorder is not None and recorder.active and recorder.shell is shell else None
