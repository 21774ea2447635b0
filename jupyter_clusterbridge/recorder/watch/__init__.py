"""What the recorder watches beside the cells themselves: one subject a file, each of its own."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_clusterbridge.recorder.watch.asked import AskedWatch, InstallWatch
from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch
from jupyter_clusterbridge.recorder.watch.debugger import DebuggerWatch
from jupyter_clusterbridge.recorder.watch.modules import ModuleWatch
from jupyter_clusterbridge.recorder.watch.names import NameWatch
from jupyter_clusterbridge.recorder.watch.pulse import PulseWatch
from jupyter_clusterbridge.recorder.watch.stops import StopWatch
from jupyter_clusterbridge.recorder.watch.surroundings import SurroundingsWatch
from jupyter_clusterbridge.recorder.watch.widgets import WidgetWatch

WATCHES: tuple[type[Watch], ...] = (
    PulseWatch,
    SurroundingsWatch,
    NameWatch,
    ModuleWatch,
    WidgetWatch,
    DebuggerWatch,
    StopWatch,
    AskedWatch,
    InstallWatch,
)


class Watches:
    """All watches of one recording; one that fails is taken out and told of once, the others go on.

    Args:
        scene: what they look at and where they write.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._all: list[Watch] = []

    def start(self) -> None:
        """Begin to watch."""
        for cls in WATCHES:
            watch = cls(self._scene)
            self._all.append(watch)
            self._guarded(watch, watch.start)

    def before_cell(self) -> None:
        """A cell is about to begin: what was done since the last one belongs to no cell."""
        for watch in tuple(self._all):
            self._guarded(watch, watch.begin_cell)

    def cell_begins(self, run: int, source: str) -> None:
        """The cell has begun under this number."""
        self._scene.run, self._scene.source = run, source
        for watch in tuple(self._all):
            self._guarded(watch, watch.cell_begun)

    def end_cell(self, ended: Ended) -> None:
        """The cell has ended and its end is written."""
        for watch in tuple(self._all):
            self._guarded(watch, watch.end_cell, ended)

    def stop(self) -> None:
        """Put everything back; idempotent."""
        while self._all:
            watch = self._all.pop()
            self._guarded(watch, watch.stop)

    def _guarded(self, watch: Watch, action: Callable[..., None], *args: object) -> None:
        if watch.failed:
            return
        try:
            action(*args)
        except Exception as error:
            if watch in self._all:
                self._all.remove(watch)
                self._guarded(watch, watch.stop)
            self._scene.failed(error)


__all__ = ["Ended", "Scene", "Watch", "Watches"]
