"""torch's own warnings of nondeterministic operations, with the line of the cell that ran them."""

from __future__ import annotations

import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from jupyter_clusterbridge.model.events import NondeterminismSeen
from jupyter_clusterbridge.runtime.debug_mode import MODE
from jupyter_clusterbridge.runtime.hooks import EvidenceSink, Hook
from jupyter_clusterbridge.runtime.patches import Patches

_ALERTS = (
    re.compile(r"(?P<operation>[\w:.]+).{0,60}? does not have a deterministic implementation, but you set"),
    re.compile(r"Deterministic behavior was enabled with either .* because it uses (?P<operation>CuBLAS)"),
    re.compile(r"(?P<operation>Memory Efficient attention) defaults to a non-deterministic algorithm"),
)
_PATTERN = "|".join(re.sub(r"\(\?P<operation>", "(?:", alert.pattern) for alert in _ALERTS)
_MOST = 200
"""Alerts kept of one cell run."""


class TorchAlertsHook(Hook):
    """Listens to the warnings that torch gives in its debug mode ``warn``.

    The user's own mode is only listened to, and its warnings are shown as ever. Those of a mode that is ours
    (:data:`~jupyter_clusterbridge.runtime.debug_mode.MODE`) are not shown: they become findings.
    """

    name: ClassVar[str] = "torch_alerts"
    module: ClassVar[str | None] = "torch"

    def __init__(self, sink: EvidenceSink) -> None:
        super().__init__(sink)
        self._patches = Patches()
        self._seen: set[tuple[int | None, str]] = set()
        self._filter: tuple[Any, ...] | None = None

    def install(self) -> None:
        """Put a listener before the function that shows warnings."""
        if not self._patches.active:
            self._patches.replace(warnings, "showwarning", self._wrap)

    def uninstall(self) -> None:
        """Take the listener and the filter out, and give the mode back."""
        self._take_filter_out()
        MODE.release()
        self._patches.undo()

    def begin_cell(self) -> None:
        """Start with nothing seen; Python shows a warning once a place, and each run is to be known."""
        self._seen.clear()
        if MODE.ours:
            self._put_filter_in()

    def end_cell(self) -> None:
        """Leave the filters as the user's code has them."""
        self._take_filter_out()

    def _put_filter_in(self) -> None:
        self._take_filter_out()
        warnings.filterwarnings("always", message=_PATTERN)
        self._filter = warnings.filters[0]

    def _take_filter_out(self) -> None:
        found, self._filter = self._filter, None
        if found is not None and found in warnings.filters:
            warnings.filters.remove(found)  # type: ignore[attr-defined]

    def _wrap(self, original: Callable[..., None]) -> Callable[..., None]:
        patches = self._patches

        def showwarning(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
            if patches.active and self._is_alert(message) and MODE.ours:
                return
            original(message, category, *args, **kwargs)

        return showwarning

    def _is_alert(self, message: object) -> bool:
        text = str(message) if isinstance(message, UserWarning) else ""
        found = next((match for alert in _ALERTS if (match := alert.match(text))), None)
        if found is None:
            return False
        if self.sink.run:
            self.guarded(self._note, found["operation"])
        return True

    def _note(self, operation: str) -> None:
        line = line_in_cell(sys._getframe(1))
        if (line, operation) in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add((line, operation))
        self.sink.emit(NondeterminismSeen(self.sink.run, line, operation))


def line_in_cell(frame: types.FrameType | None) -> int | None:
    """The line of the running cell that led to a frame, the innermost one; None outside a cell's code."""
    inner: dict[str, int] = {}
    found: str | None = None
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__") == "__main__" and "get_ipython" in frame.f_globals:
            inner.setdefault(code.co_filename, frame.f_lineno)
            if code.co_name == "<module>":
                found = code.co_filename
        frame = frame.f_back
    return inner[found] if found is not None else None


HOOK = TorchAlertsHook
