"""``POST export``: write the bundle of one notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado.web import HTTPError, authenticated

from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.model.errors import DocumentInvalid
from jupyter_clusterbridge.server.base import ClusterBridgeHandler
from jupyter_clusterbridge.server.documents import ExportAnswer, ExportOrder, default_output
from jupyter_clusterbridge.server.paths import api_path, resolve
from jupyter_clusterbridge.server.report_handlers import with_api_paths

if TYPE_CHECKING:
    from jupyter_clusterbridge.app.export import ExportRequest, ExportResult

_SCOPES = ("used", "all")


class ExportHandler(ClusterBridgeHandler):
    """Writes a bundle below the server's root folder."""

    @authenticated
    @authorized(action="write", resource="contents")
    async def post(self) -> None:
        """Take an ``ExportOrder``, answer with an ``ExportAnswer``."""
        order = self._order()
        from jupyter_clusterbridge.app.export import export_notebook

        request = self._request(order)
        result = await self.in_thread(lambda: export_notebook(request))
        self.answer(self._answer(result))

    def _order(self) -> ExportOrder:
        try:
            order = from_json(ExportOrder, json.loads(self.request.body), "request")
        except DocumentInvalid as error:
            raise HTTPError(400, error.message) from None
        except ValueError:
            raise HTTPError(400, "The request's body is not JSON.") from None
        if order.scope not in _SCOPES:
            raise HTTPError(400, f"The scope {order.scope!r} is not one of {', '.join(_SCOPES)}.")
        return order

    def _request(self, order: ExportOrder) -> ExportRequest:
        from jupyter_clusterbridge.app.export import ExportRequest

        return ExportRequest(
            notebook=self.notebook(order.path),
            output=resolve(self.contents_manager, order.output or default_output(order.path)),
            engines=order.engines,
            base_image=order.base_image or None,
            scope=order.scope,
            parameters=dict(order.parameters),
            platform=order.platform,
        )

    def _answer(self, result: ExportResult) -> ExportAnswer:
        return ExportAnswer(
            folder=api_path(self.contents_manager, result.folder),
            folder_on_disk=str(result.folder),
            model_identity=result.manifest.identity.model,
            engines=result.manifest.engines,
            findings=with_api_paths(self, result.findings),
            warnings=tuple(self.without_root(warning) for warning in result.warnings),
        )
