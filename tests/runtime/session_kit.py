"""A real IPython shell whose cells are recorded, for the tests of the evidence side."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_clusterbridge.model.events import Event, KernelStart
from jupyter_clusterbridge.model.evidence import Row, RowKind, read_rows
from jupyter_clusterbridge.runtime.journal import Journal, JournalWriter, read_journal
from jupyter_clusterbridge.runtime.kernel import JobRecording
from jupyter_clusterbridge.runtime.session import Session

E = TypeVar("E", bound=Event)


class Recorded:
    """Runs sources as cells of a fresh shell, recorded into ``folder/.clusterbridge``."""

    def __init__(self, folder: Path, name: str = "kernel", at: str = "2026-01-01T00:00:00+00:00") -> None:
        self.folder = folder
        self.errors: list[Exception] = []
        config = Config()
        config.HistoryManager.enabled = False
        self.shell: Any = InteractiveShell(config=config)
        # hundreds of shells would each collect garbage when the test process ends, for minutes
        atexit.unregister(self.shell.atexit_operations)
        self.shell.showtraceback = lambda *args, **kwargs: None
        self._writer = JournalWriter(folder / ".clusterbridge" / f"{name}.jsonl", self.errors.append)
        self._writer.write(KernelStart(name, "notebook", "3.11.7", at))
        self.session = Session(self.shell, self._writer, root=folder, on_error=self.errors.append)
        self._recording = JobRecording(self.shell, self.session, self._writer)
        self._recording.start()

    def run(self, *sources: str, ids: Sequence[str | None] = ()) -> Any:
        """Run cells; returns the last result."""
        result = None
        for number, source in enumerate(sources):
            cell_id = ids[number] if number < len(ids) else None
            result = self.shell.run_cell(source, store_history=True, cell_id=cell_id)
        return result

    def close(self) -> None:
        """Take all hooks out and close the journal."""
        self._recording.stop()
        self._recording.finish()

    @property
    def journal(self) -> Journal:
        return read_journal(self._writer.path)

    def events(self, kind: type[E]) -> list[E]:
        return [event for event in self.journal.events if isinstance(event, kind)]

    def rows(self, *kinds: RowKind) -> list[Row]:
        path = self.journal.steps_path
        if not path.exists():
            return []
        return [row for row in read_rows(path) if not kinds or row.kind in kinds]


def pairs(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """The values of rows without their places."""
    return [(row.a, row.b) for row in rows]
