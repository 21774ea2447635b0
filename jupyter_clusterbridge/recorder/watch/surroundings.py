"""Environment variables and the working directory, changed while no cell ran."""

from __future__ import annotations

import os
from typing import Any

from jupyter_clusterbridge.model.events import OutsideChange
from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch
from jupyter_clusterbridge.runtime.session import utc_now

_NOBODYS = frozenset({"COLUMNS", "LINES", "PWD", "OLDPWD", "_", "SHLVL", "PAGER", "GIT_PAGER", "TERM"})
"""Variables that shells and terminals set by themselves."""


class SurroundingsWatch(Watch):
    """Compares what the last cell left with what the next one finds."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._left: tuple[dict[Any, Any], str | None] | None = None

    def stop(self) -> None:
        """Nothing was replaced."""
        self._left = None

    def end_cell(self, ended: Ended) -> None:
        """Remember."""
        self._left = (_environment(), _folder())

    def begin_cell(self) -> None:
        """Compare."""
        left, self._left = self._left, None
        if left is None:
            return
        for location in _changed(left, (_environment(), _folder())):
            self.scene.emit(OutsideChange(self.scene.run, location, utc_now()))


def _changed(before: tuple[dict[Any, Any], str | None], now: tuple[dict[Any, Any], str | None]) -> list[str]:
    found = ["cwd:."] if before[1] != now[1] else []
    if before[0] != now[0]:
        names = before[0].keys() | now[0].keys()
        changed = sorted(os.fsdecode(name) for name in names if before[0].get(name) != now[0].get(name))
        found += [f"env:{name}" for name in changed if name not in _NOBODYS]
    return found


def _environment() -> dict[Any, Any]:
    # the dictionary behind it, copied: decoding every variable would cost more than the cell
    return dict(getattr(os.environ, "_data", os.environ))


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return None
