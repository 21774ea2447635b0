"""What a job's kernel does before the first cell and after the last: a hidden request runs each."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import cast

from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.model.run import GuardPolicy
from jupyter_clusterbridge.runtime.api import JOB_VARIABLE
from jupyter_clusterbridge.runtime.kernel import start_job_recording
from jupyter_clusterbridge.runtime.kernel_guards import install_guards
from jupyter_clusterbridge.runtime.shellwatch import watch_shell

STACKS_FILE = "stacks.txt"
_PR_SET_PDEATHSIG = 1

_CALL = "__import__('jupyter_clusterbridge.runtime.prelude', fromlist=['prelude'])"
BEGIN_REQUEST = f"{_CALL}.begin(get_ipython())"
"""The code of the hidden request before the first cell; binds no name in the user's namespace."""
END_REQUEST = f"{_CALL}.end()"
"""The code of the hidden request after the last cell."""
_FLUSH_TIMEOUT_S = 0.2


def begin(shell: object) -> None:
    """Prepare this kernel: it dies with its supervisor, hears SIGTERM, is recorded and guarded."""
    job = cast("dict[str, object]", json.loads(os.environ[JOB_VARIABLE]))
    record_dir, run_dir = Path(str(job["record_dir"])), Path(str(job["run_dir"]))
    die_with_parent()
    if hasattr(signal, "SIGUSR2"):
        stacks = (run_dir / STACKS_FILE).open("ab")
        faulthandler.register(signal.SIGUSR2, file=stacks, all_threads=True, chain=False)
    hear_sigterm()
    watch_shell(record_dir)
    recording = start_job_recording(shell)
    guards = cast("dict[str, object]", job.get("guards", {}))
    policies = {name: from_json(GuardPolicy, policy, name) for name, policy in guards.items()}
    install_guards(recording.session, policies, run_dir)


def end() -> None:
    """Prepare the shutdown.

    At its shutdown ipykernel's control thread may flush the streams when the thread that does it has ended
    already, and then waits for ten seconds.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "flush_timeout"):
            stream.flush()
            stream.flush_timeout = _FLUSH_TIMEOUT_S


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends; elsewhere ipykernel's own poller does it."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    # the parent may have died before the request took effect
    if os.environ.get("JPY_PARENT_PID") not in (None, str(os.getppid())):
        os._exit(1)


def hear_sigterm() -> None:
    """Let SIGTERM act on the running cell as an interrupt does, unless the notebook installs its own handler.

    Children by fork get the default back: pools and loaders end their workers by SIGTERM.
    """

    def on_sigterm(_number: int, frame: FrameType | None) -> None:
        # ipykernel installs a handler of SIGINT only while a cell runs
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)

    def in_child() -> None:
        if signal.getsignal(signal.SIGTERM) is on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, on_sigterm)
    os.register_at_fork(after_in_child=in_child)
