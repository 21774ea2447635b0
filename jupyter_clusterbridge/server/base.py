"""What our handlers share: JSON answers, failures in the user's words, and work in a thread."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jupyter_server.base.handlers import APIHandler
from tornado.ioloop import IOLoop
from tornado.web import HTTPError

from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.server.documents import Failure
from jupyter_clusterbridge.server.paths import resolve, root_folder

T = TypeVar("T")

UNPROCESSABLE = 422
"""Status of a failure that the user can mend: the request was understood, its content cannot be used."""


class ClusterBridgeHandler(APIHandler):
    """Base of all our handlers.

    A subclass decorates each of its methods with ``authenticated`` and ``authorized``; a test walks
    over all of them.
    """

    auth_resource = "contents"

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run blocking work in a thread, so that the server's kernels and other users do not wait for it."""
        return await IOLoop.current().run_in_executor(None, work)

    def answer(self, document: object) -> None:
        """Send a document as JSON."""
        self.finish(json.dumps(to_json(document)))

    def notebook(self, path: str) -> Path:
        """The notebook file that an API path names.

        Raises:
            HTTPError: 404 when the path leaves the root or there is no such file.
        """
        file = resolve(self.contents_manager, path)
        if not file.is_file():
            raise HTTPError(404, f"There is no notebook {path!r} on this server.")
        return file

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Send every failure as a :class:`Failure`; a user's mistake is never an internal error."""
        info = kwargs.get("exc_info")
        error = info[1] if isinstance(info, tuple) else None
        if isinstance(error, ClusterBridgeError):
            self.set_status(UNPROCESSABLE)
            self.answer(Failure(self.without_root(error.message), error.next_step, error.exit_code))
        elif isinstance(error, HTTPError):
            message = (error.log_message or "") % error.args or error.reason or self._reason
            self.answer(Failure(message, _HINTS.get(status_code, "")))
        else:
            self.answer(Failure("ClusterBridge failed on the server.", "The server's log has the details."))

    def log_exception(self, typ: object, value: object, tb: object) -> None:
        """Log a user's mistake as one line, anything else with its traceback."""
        if isinstance(value, ClusterBridgeError):
            self.log.warning("ClusterBridge: %s", value)
        else:
            super().log_exception(typ, value, tb)

    def without_root(self, text: str) -> str:
        """A sentence with files named as API paths, so that no folder of the server shows in the browser."""
        return text.replace(f"{root_folder(self.contents_manager)}{os.sep}", "")


_HINTS = {
    403: "Ask the server's administrator for access.",
    404: "Check the path; paths are relative to the server's root folder.",
}
