"""Start and stop recording in a live kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.recorder.recorder import Recorder
from jupyter_clusterbridge.runtime.renamed import renamed_notebook

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


def recorded_notebook(shell: Any) -> Path:
    """The file of the notebook that is recorded in a kernel.

    Raises:
        NotebookUnreadable: nothing is recorded, or the front end did not tell which file it is.
    """
    recorder = current_recorder(shell)
    if recorder is None or recorder.notebook is None:
        raise NotebookUnreadable(
            "Nothing is recorded in this kernel.", hint="Load the extension with: %load_ext clusterbridge"
        )
    if not recorder.notebook.is_file() and recorder.journal is not None:
        recorder.notebook = renamed_notebook(recorder.notebook, recorder.journal) or recorder.notebook
    if not recorder.notebook.is_file():
        raise NotebookUnreadable(
            f"{recorder.notebook.name}: there is no saved notebook of that name.",
            hint="Save the notebook; where the front end does not tell its name, set the environment variable "
            "JPY_SESSION_NAME to its path before the kernel starts.",
        )
    return recorder.notebook
