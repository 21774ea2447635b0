"""``%load_ext clusterbridge`` and ``%clusterbridge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

MAGIC = "clusterbridge"


def load(shell: InteractiveShell) -> None:
    """Start recording and register the magic; loading twice does nothing."""
    from jupyter_clusterbridge.app.record import start_recording
    from jupyter_clusterbridge.magics.line import clusterbridge_magic

    start_recording(shell)
    if MAGIC not in shell.magics_manager.magics["line"]:
        shell.register_magic_function(clusterbridge_magic(shell), magic_kind="line", magic_name=MAGIC)


def unload(shell: InteractiveShell) -> None:
    """Stop recording and take the magic away."""
    from jupyter_clusterbridge.app.record import stop_recording

    stop_recording(shell)
    shell.magics_manager.magics["line"].pop(MAGIC, None)
