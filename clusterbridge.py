"""Short import name: ``import clusterbridge as cb`` and ``%load_ext clusterbridge``."""

from jupyter_clusterbridge import (
    __version__,
    artifact,
    load_ipython_extension,
    metric,
    unload_ipython_extension,
)

__all__ = ["__version__", "artifact", "load_ipython_extension", "metric", "unload_ipython_extension"]
