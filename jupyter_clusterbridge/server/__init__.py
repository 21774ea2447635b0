"""The Jupyter server's door: REST under ``/clusterbridge/``, every handler authenticated and authorised."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["load"]


def load(server_app: ServerApp) -> None:
    """Register our handlers with a running Jupyter server.

    Args:
        server_app: the server that loads us as an extension.
    """
    from jupyter_clusterbridge.server.routes import routes

    server_app.web_app.add_handlers(".*$", routes(server_app.web_app.settings["base_url"]))
    server_app.log.info("ClusterBridge: REST endpoints are registered under /clusterbridge/")
