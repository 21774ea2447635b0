"""torch's debug mode for nondeterministic operations, held for a person who asked to have them named.

It is never turned on unasked: while it is on, torch takes other algorithms (``index_put_`` with accumulate,
cuDNN's convolutions), fills new memory and compiles functions anew, so that numbers and speed are not the
notebook's.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from jupyter_clusterbridge.runtime.patches import Patches

_SETTERS = ("use_deterministic_algorithms", "set_deterministic_debug_mode")


class DebugMode:
    """Turns the mode to ``warn`` and back, without ever overruling the user.

    A mode that the user's code has set, before or afterwards, stays theirs, and is what the environment records.
    """

    def __init__(self) -> None:
        self._patches = Patches()
        self._torch: Any = None
        self._fills: bool | None = None

    @property
    def ours(self) -> bool:
        """Whether the mode that torch is in is the one that we set."""
        return self._torch is not None

    def hold(self) -> bool:
        """Turn the mode on; returns whether it is ours now: not where the user has set one or torch is absent."""
        torch = sys.modules.get("torch")
        if self.ours or torch is None or not hasattr(torch, "get_deterministic_debug_mode"):
            return self.ours
        if torch.get_deterministic_debug_mode() != 0:
            return False
        settings = _fill_settings()
        if settings is not None:  # filling new memory costs time and tells nothing
            self._fills, settings.fill_uninitialized_memory = settings.fill_uninitialized_memory, False
        torch.set_deterministic_debug_mode("warn")
        self._torch = torch
        for name in _SETTERS:
            self._patches.replace(torch, name, self._wrap)
        return True

    def release(self) -> None:
        """Turn the mode off, where it is still ours; idempotent."""
        torch, self._torch = self._torch, None
        self._patches.undo()
        settings = _fill_settings()
        if settings is not None and self._fills is not None:
            settings.fill_uninitialized_memory = self._fills
        self._fills = None
        if torch is not None and torch.get_deterministic_debug_mode() == 1:
            torch.set_deterministic_debug_mode("default")

    def _wrap(self, original: Any) -> Any:
        patches = self._patches

        @functools.wraps(original)
        def setter(*args: Any, **kwargs: Any) -> Any:
            if patches.active:
                self.release()  # the user's own setting begins here
            return original(*args, **kwargs)

        return setter


def _fill_settings() -> Any:
    return getattr(sys.modules.get("torch.utils"), "deterministic", None)


MODE = DebugMode()
"""The mode of this process: torch has one for all threads."""
