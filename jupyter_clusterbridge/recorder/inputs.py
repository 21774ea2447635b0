"""Notices that a cell asked a person for input; what was typed is never looked at."""

from __future__ import annotations

import builtins
import functools
import getpass
from collections.abc import Callable
from typing import Any

_MARK = "_clusterbridge_input"


class InputWatch:
    """Wraps ``input`` and ``getpass``, in a kernel at the kernel's own methods, and undoes it.

    Args:
        shell: the IPython shell.
        on_ask: called with ``input`` or ``getpass`` after each question that was answered or refused.
    """

    def __init__(self, shell: Any, on_ask: Callable[[str], None]) -> None:
        self._on_ask = on_ask
        kernel = getattr(shell, "kernel", None)
        places = [(builtins, "input", "input"), (getpass, "getpass", "getpass")]
        if kernel is not None:
            # the kernel puts these two in place of the built-in ones for the time of each cell
            places = [(kernel, "raw_input", "input"), (kernel, "getpass", "getpass")]
        self._places: list[tuple[Any, str, str]] = places
        self._undo: list[Callable[[], None]] = []

    def start(self) -> None:
        """Wrap."""
        for owner, attribute, name in self._places:
            self._undo.append(self._wrap(owner, attribute, name))

    def stop(self) -> None:
        """Put back what was there, unless somebody else has wrapped it since."""
        while self._undo:
            self._undo.pop()()

    def _wrap(self, owner: Any, attribute: str, name: str) -> Callable[[], None]:
        had_own = attribute in vars(owner)
        original = getattr(owner, attribute)
        active = [True]

        @functools.wraps(original)
        def asking(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            finally:
                if active[0]:
                    self._on_ask(name)

        setattr(asking, _MARK, True)
        setattr(owner, attribute, asking)

        def undo() -> None:
            active[0] = False
            if getattr(owner, attribute, None) is asking:
                if had_own:
                    setattr(owner, attribute, original)
                else:
                    delattr(owner, attribute)

        return undo
