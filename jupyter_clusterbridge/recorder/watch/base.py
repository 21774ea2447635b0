"""What a watch is, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.model.events import Event
from jupyter_clusterbridge.model.state import InterventionKind


@dataclass
class Scene:
    """The kernel as the watches see it."""

    shell: Any
    journal: Path
    root: Path
    """The notebook's folder."""
    emit: Callable[[Event], None]
    intervene: Callable[[InterventionKind, str, str], None]
    """Writes an intervention of the cell that runs now: kind, message, remedy."""
    steps: Callable[[], int]
    """Optimizer steps done so far."""
    failed: Callable[[Exception], None]
    run: int = 0
    """Number of the last run that has begun."""
    source: str = ""
    """Its source."""

    @property
    def namespace(self) -> Mapping[str, Any]:
        """The user's names; only to be read."""
        found: Mapping[str, Any] = self.shell.user_ns
        return found


@dataclass(frozen=True)
class Ended:
    """How a cell ended."""

    status: str
    error: BaseException | None = None


class Watch(ABC):
    """Looks at one thing beside the cells.

    Args:
        scene: what it looks at and where it writes.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.failed = False
        """Whether it has ended itself after an error of its own."""

    def start(self) -> None:
        """Begin to watch."""
        return

    @abstractmethod
    def stop(self) -> None:
        """Put everything back; idempotent."""

    def begin_cell(self) -> None:
        """A cell is about to run; ``scene.run`` is still the number of the one before."""
        return

    def cell_begun(self) -> None:
        """The cell is about to run and has begun in the journal: what is written from here on is its own."""
        return

    def end_cell(self, ended: Ended) -> None:
        """A cell has ended."""
        return

    def guarded(self, action: Callable[..., None], *args: object) -> None:
        """Run a part that others call, in the middle of their work; a failure ends this watch alone."""
        try:
            action(*args)
        except Exception as error:
            self.failed = True
            try:
                self.stop()
            finally:
                self.scene.failed(error)
