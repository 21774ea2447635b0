"""Let torch name its nondeterministic operations in a live kernel, on request."""

from __future__ import annotations

import sys
from typing import Any

from jupyter_clusterbridge.app.record import current_recorder
from jupyter_clusterbridge.runtime.debug_mode import MODE


def switch_determinism(shell: Any, on: bool) -> str:
    """Turn torch's debug mode on or off for the cells to come; returns what to tell the user.

    Args:
        shell: the IPython shell.
        on: whether torch is to warn of operations without a deterministic implementation.
    """
    if not on:
        MODE.release()
        return "torch's debug mode is as your code has set it"
    if current_recorder(shell) is None:
        return "nothing is recorded in this kernel: load the extension with %load_ext clusterbridge"
    if "torch" not in sys.modules:
        return "import torch first, then ask again"
    if not MODE.hold():
        return "your code has set torch's deterministic mode itself; it stays, and its warnings are recorded"
    return (
        "torch names operations without a deterministic implementation from the next cell on, see"
        " %clusterbridge check; it takes other algorithms meanwhile, so turn it off before you compare numbers"
    )
