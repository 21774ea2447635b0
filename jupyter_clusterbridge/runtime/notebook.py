"""The executed notebook: valid on disk at every moment, and the runner that fills it cell by cell."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import nbformat
from nbclient import NotebookClient

from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.notebook import read_notebook

EXECUTED_FILE = "executed.ipynb"
SAVE_INTERVAL_S = 2.0
_SAVE_SHARE = 20
"""A save may take one part in so many of the time, so that a huge notebook does not slow its job."""


class LiveNotebook:
    """A notebook in memory that is saved to a file as it changes.

    Args:
        source: the notebook to run.
        target: where to save; replaced as a whole with every save.

    Raises:
        NotebookUnreadable, NotebookTooOld, NotPython: the source cannot be run.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self.cells = read_notebook(source).cells
        self.node = _load(source, [cell.id for cell in self.cells])
        self.target = target
        self.dirty = True
        self._saved_at = 0.0
        self._took_s = 0.0

    def save(self) -> None:
        """Write the notebook now.

        Raises:
            DiskFull, FolderNotWritable: the file system refuses; the file on disk stays as it was.
        """
        started = time.monotonic()
        self.dirty = False
        try:
            write_atomic(self.target, notebook_bytes(self.node))
        except BaseException:
            self.dirty = True
            raise
        finally:
            self._saved_at = time.monotonic()
            self._took_s = self._saved_at - started

    def save_when_due(self, interval_s: float = SAVE_INTERVAL_S) -> None:
        """Write the notebook if it has changed and the last save is long enough ago.

        Args:
            interval_s: shortest time between two saves, in seconds; 0 at the end of a cell.

        Raises:
            DiskFull, FolderNotWritable: see :meth:`save`.
        """
        pause = max(interval_s, self._took_s * _SAVE_SHARE)
        if self.dirty and time.monotonic() - self._saved_at >= pause:
            self.save()


def _load(source: Path, ids: list[str]) -> Any:
    data = json.loads(source.read_bytes())
    has_ids = data.get("nbformat_minor", 0) >= 5
    for cell, cell_id in zip(data["cells"], ids, strict=True):
        if has_ids:
            cell.setdefault("id", cell_id)
        cell.setdefault("metadata", {}).pop("execution", None)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    data.setdefault("metadata", {}).pop("widgets", None)
    data.setdefault("nbformat_minor", 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = nbformat.v4.rwbase.rejoin_lines(nbformat.from_dict(data))
            nbformat.validate(node)
    except nbformat.ValidationError as error:
        first = str(error).strip().split("\n", 1)[0]
        raise NotebookUnreadable(f"{source}: is not a valid notebook ({first})") from None
    return node


def notebook_bytes(node: Any) -> bytes:
    """The notebook's file content as Jupyter writes it."""
    text = nbformat.v4.writes(node)
    return (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")


class CellRunner(NotebookClient):
    """nbclient's execution of a cell, with what a job needs beside it.

    Streams are joined as they come and overwritten lines (progress bars) dropped, as a front end does;
    what a kernel sends is made to fit the notebook format before it gets in; text goes to standard output too.
    """

    def __init__(self, live: LiveNotebook, **settings: Any) -> None:
        super().__init__(live.node, on_cell_executed=self._keep_reply, **settings)
        self.live = live
        self.clear_before_next_output = False
        self.reply: dict[str, Any] = {}
        """Content of the kernel's reply to the last cell."""
        self.shown_error: dict[str, Any] | None = None
        """Content of the first error that the cell published; some magics show one and then reply with success."""

    def begin_cell(self) -> None:
        """Forget what the cell before left."""
        self.reply, self.shown_error = {}, None

    def _keep_reply(self, *, execute_reply: dict[str, Any], **_rest: Any) -> None:
        self.reply = execute_reply["content"]

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        """Take one message of the kernel."""
        content = msg["content"]
        if msg["msg_type"] in ("display_data", "execute_result", "update_display_data"):
            content["data"] = _clean_bundle(content.get("data"))
            content["metadata"] = _clean_metadata(content.get("metadata"))
        elif msg["msg_type"] == "error":
            content["traceback"] = [str(line) for line in content.get("traceback") or []]
            echo("\n".join(content["traceback"]) + "\n")
            self.shown_error = self.shown_error or content
        self.live.dirty = True
        return super().process_message(msg, cell, cell_index)

    def output(self, outs: list[Any], msg: dict[str, Any], display_id: str | None, cell_index: int) -> Any:
        """Add one output to a cell."""
        hooked = self.output_hook_stack[msg["parent_header"].get("msg_id")]
        if msg["msg_type"] != "stream":
            return super().output(outs, msg, display_id, cell_index)
        echo(msg["content"]["text"])
        last = outs[-1] if outs and not hooked and not self.clear_before_next_output else None
        if last is None or last["output_type"] != "stream" or last["name"] != msg["content"]["name"]:
            return super().output(outs, msg, display_id, cell_index)
        last["text"] = _append(last["text"], msg["content"]["text"])
        return last


def _append(text: str, more: str) -> str:
    if "\r" not in more and not text.endswith("\r"):
        return text + more
    head, newline, tail = text.rpartition("\n")
    return head + newline + "\n".join(map(_visible, (tail + more).split("\n")))


def _visible(line: str) -> str:
    """What a carriage return leaves of a line; one at its end overwrites nothing yet."""
    start = line.rfind("\r", 0, len(line) - 1) + 1
    return line[start:]


def echo(text: str) -> None:
    """Write a cell's text to standard output, which engines show as the job's log; never fails."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(text)
        sys.stdout.flush()


def _clean_bundle(data: object) -> dict[str, Any]:
    """A MIME bundle that the notebook format allows."""
    if not isinstance(data, Mapping):
        return {}
    return {str(mime): _clean_value(str(mime), value) for mime, value in data.items()}


def _clean_value(mime: str, value: Any) -> Any:
    if mime == "application/json" or mime.endswith("+json"):
        return _finite(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return str(value)


def _clean_metadata(metadata: object) -> dict[str, Any]:
    return cast("dict[str, Any]", _finite(metadata)) if isinstance(metadata, Mapping) else {}


def _finite(value: Any) -> Any:
    """The value without NaN and infinities, for which JSON has no form."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
