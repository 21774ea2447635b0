"""Which address belongs to which handler."""

from __future__ import annotations

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join

from jupyter_clusterbridge.server.export_handler import ExportHandler
from jupyter_clusterbridge.server.report_handlers import CheckHandler, EnginesHandler, FindingsHandler

PREFIX = "clusterbridge"

HANDLERS: dict[str, type[APIHandler]] = {
    "findings": FindingsHandler,
    "check": CheckHandler,
    "engines": EnginesHandler,
    "export": ExportHandler,
}
"""Handlers by the last part of their address."""


def routes(base_url: str) -> list[tuple[str, type[APIHandler]]]:
    """Handlers with their addresses below the server's base URL."""
    return [(url_path_join(base_url, PREFIX, name), handler) for name, handler in HANDLERS.items()]
