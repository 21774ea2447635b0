"""Evidence hooks: one framework a file, each independent of the others.

A module of this package that has a ``HOOK`` class is found by :func:`hook_classes`; nothing else names it.
A hook is installed once the user's own code has imported its framework.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Protocol

from jupyter_clusterbridge.model.events import Event
from jupyter_clusterbridge.model.evidence import RowKind
from jupyter_clusterbridge.runtime.rows import PendingRow


class EvidenceSink(Protocol):
    """Where a hook puts what it saw; a session is one."""

    root: Path
    """The notebook's folder."""

    @property
    def run(self) -> int:
        """Current run number; 0 outside a cell and in a forked child, where a hook must do nothing."""

    @property
    def steps(self) -> int:
        """Optimizer steps done so far in this kernel."""

    def emit(self, event: Event) -> None:
        """Write one event."""

    def read(self, location: str) -> None:
        """The cell has read a location that only the hook could see."""

    def row(self, kind: RowKind, a: int, b: int) -> None:
        """Write one row of dense evidence for the current run."""

    def defer(self, pending: PendingRow) -> None:
        """Hold a place for a row whose value comes later."""

    def drain(self) -> None:
        """Write the deferred rows whose values have arrived."""

    def step_done(self) -> None:
        """An optimizer has stepped: count, write the row, beat, tell observers."""

    def loss_seen(self, step: int, value: float) -> None:
        """A loss is known: write its row and tell observers."""

    def tell_loss(self, step: int, value: float) -> None:
        """Tell observers a loss; a guard among them may raise into the user's cell."""

    def wrote(self, path: str) -> None:
        """A file was written by code that no audit event shows."""

    def failed(self, hook: Hook, error: Exception) -> None:
        """A hook failed: report it once and turn the hook off."""


class Hook(ABC):
    """One framework's hook. ``install`` and ``uninstall`` are idempotent and leave no trace together."""

    name: ClassVar[str]
    module: ClassVar[str | None] = None
    """The module that must have been imported first; None for the standard library."""

    def __init__(self, sink: EvidenceSink) -> None:
        self.sink = sink

    @abstractmethod
    def install(self) -> None:
        """Begin to watch."""

    @abstractmethod
    def uninstall(self) -> None:
        """Stop and put everything back."""

    def begin_cell(self) -> None:
        """A cell is about to run."""
        return

    def end_cell(self) -> None:
        """A cell has ended; write what was held back."""
        return

    def guarded(self, action: Callable[..., None], *args: object, **kwargs: object) -> None:
        """Run a part of the hook inside the user's cell; a failure turns the hook off.

        A guard's trip and an interrupt are no ``Exception`` and reach the cell.
        """
        try:
            action(*args, **kwargs)
        except Exception as error:
            self.sink.failed(self, error)


def hook_classes() -> tuple[type[Hook], ...]:
    """All hook classes, by name."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    classes: list[type[Hook]] = [module.HOOK for module in modules if hasattr(module, "HOOK")]
    return tuple(sorted(classes, key=lambda cls: cls.name))
