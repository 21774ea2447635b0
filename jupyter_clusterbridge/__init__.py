"""ClusterBridge: from a notebook that works to a job that is still the same model.

Entry points only; everything heavy is imported inside functions, so that a kernel that loads the
extension and a server that lists it pay for what they use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_clusterbridge.model.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

__version__ = VERSION
__all__ = ["artifact", "load_ipython_extension", "metric", "unload_ipython_extension"]


def metric(name: str, value: float, step: int | None = None) -> None:
    """Record a value of a metric; harmless where nothing records.

    Args:
        name: name of the metric, for example ``accuracy``.
        value: a number, or anything that ``float`` takes, such as a tensor of one element.
        step: the training step or epoch it belongs to.
    """
    from jupyter_clusterbridge.runtime.api import metric as record

    record(name, value, step)


def artifact(path: str | Path) -> None:
    """Declare a file that the job must leave; missing or empty at the end is a failure of the job."""
    from jupyter_clusterbridge.runtime.api import artifact as declare

    declare(path)


def load_ipython_extension(shell: object) -> None:
    """Start recording in this kernel; loading twice does nothing."""
    from jupyter_clusterbridge.runtime.api import in_job

    if in_job():
        from jupyter_clusterbridge.runtime.api import register_job_magic

        register_job_magic(shell)
        return
    from jupyter_clusterbridge.magics import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop recording and leave no trace in the shell."""
    from jupyter_clusterbridge.runtime.api import in_job

    if in_job():
        return
    from jupyter_clusterbridge.magics import unload

    unload(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "_lab", "dest": "jupyter-clusterbridge"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "jupyter_clusterbridge"}]


def _load_jupyter_server_extension(server_app: object) -> None:
    from jupyter_clusterbridge.server import load

    load(server_app)
