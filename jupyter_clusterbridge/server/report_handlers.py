"""The handlers that only read: findings, check and engines."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from jupyter_clusterbridge.model.findings import Finding
from jupyter_clusterbridge.server.base import ClusterBridgeHandler
from jupyter_clusterbridge.server.paths import api_path


class FindingsHandler(ClusterBridgeHandler):
    """``GET findings?path=``: what lint says of one saved notebook."""

    @authenticated
    @authorized(action="read", resource="contents")
    async def get(self) -> None:
        """Answer with a ``LintReport``."""
        from jupyter_clusterbridge.app.lint import lint_notebooks

        file = self.notebook(self.get_argument("path"))
        report = await self.in_thread(lambda: lint_notebooks([file]))
        self.answer(dataclasses.replace(report, findings=with_api_paths(self, report.findings)))


class CheckHandler(ClusterBridgeHandler):
    """``GET check?path=``: the journals against one saved notebook."""

    @authenticated
    @authorized(action="read", resource="contents")
    async def get(self) -> None:
        """Answer with a ``CheckReport``."""
        from jupyter_clusterbridge.app.check import check_notebook_file

        file = self.notebook(self.get_argument("path"))
        report = await self.in_thread(lambda: check_notebook_file(file))
        self.answer(dataclasses.replace(report, findings=with_api_paths(self, report.findings)))


class EnginesHandler(ClusterBridgeHandler):
    """``GET engines``: which engines are usable here and, if not, why."""

    @authenticated
    @authorized(action="read", resource="contents")
    async def get(self) -> None:
        """Answer with an ``EngineReport``."""
        from jupyter_clusterbridge.app.engines import list_engines

        self.answer(await self.in_thread(list_engines))


def with_api_paths(handler: ClusterBridgeHandler, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The same findings with files named as the front end knows them."""
    return tuple(
        dataclasses.replace(
            finding,
            path=api_path(handler.contents_manager, Path(finding.path)),
            message=handler.without_root(finding.message),
        )
        for finding in findings
    )
