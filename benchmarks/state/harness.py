"""A person at a notebook, as a script; and what is true of the notebook afterwards.

A session is a function that drives a :class:`Play` and returns a :class:`Truth`. The truth is written down from
what a clean top-to-bottom run of the saved file would do, never from what the tool says.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from kernels import Kernel, KernelDied, Zygote


@dataclass(frozen=True)
class Truth:
    """The right answer.

    Letters stand for the cells in the order of the saved file: c(urrent), d(iverged), e(dited), n(ever run).
    """

    states: str
    """A regular expression over the letters: ``"cd[cd]"`` takes either answer for the third cell."""
    unsafe: str = ""
    """Ids of the cells that accumulate when they run again."""
    either: str = ""
    """Ids of cells for which safe and unsafe are both defensible."""
    did: str = ""
    """Kinds of the interventions that happened, alternatives with ``|``."""
    may: str = ""
    """Kinds that are defensible too."""
    why: dict[str, str] = field(default_factory=dict)
    """What the reasons of a cell must name, ``location@cell`` (cells by id, ``-`` for none), several with spaces,
    alternatives with ``|``: ``{"c": "column:df.a@b"}``."""
    told: dict[str, str] = field(default_factory=dict)
    """What the message of a kind of intervention must contain, alternatives with ``|``."""


@dataclass(frozen=True)
class Session:
    """One scripted session."""

    name: str
    group: str
    script: Callable[[Play], Truth]

    @property
    def clean(self) -> bool:
        """Whether any state alarm in it is a false one."""
        return self.group == "clean"

    @property
    def note(self) -> str:
        """What happens in it, in a sentence."""
        return " ".join((self.script.__doc__ or "").split())


SESSIONS: list[Session] = []


def session(group: str) -> Callable[[Callable[[Play], Truth]], Callable[[Play], Truth]]:
    """Register a session under its function's name."""

    def register(script: Callable[[Play], Truth]) -> Callable[[Play], Truth]:
        SESSIONS.append(Session(script.__name__.replace("_", "-"), group, script))
        return script

    return register


class Play:
    """A notebook, its front end, and its kernel. Cells get the ids ``a``, ``b``, ``c``, ... as they are made.

    Attributes:
        front_end: ``lab`` sends ids and what was deleted; ``foreign`` sends ids of its own, which are not in
            the file, as VS Code does; ``plain`` sends none and saves a file without ids.
    """

    def __init__(self, zygote: Zygote) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cb-state-"))
        self.path = self.folder / "work.ipynb"
        self.front_end = "lab"
        self.order: list[str] = []
        self.source: dict[str, str] = {}
        self.environment = {"JPY_SESSION_NAME": str(self.path), "CB_STATE_BENCH": "1"}
        self._zygote = zygote
        self._kernel: Kernel | None = None
        self._deleted: list[str] = []
        self._made = 0

    def __enter__(self) -> Play:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kernel is not None:
            self._kernel.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def kernel(self) -> Kernel:
        """The kernel, started when it is needed first."""
        if self._kernel is None:
            self._save()
            self._kernel = Kernel(self._zygote, self.folder, self.environment)
        return self._kernel

    # the notebook

    def cells(self, *sources: str) -> None:
        """Append cells."""
        for source in sources:
            self.order.append(self._new(source))

    def insert(self, source: str, after: str | None = None) -> str:
        """Put a new cell after another, or at the top; returns its id."""
        made = self._new(source)
        self.order.insert(self.order.index(after) + 1 if after else 0, made)
        return made

    def edit(self, cell: str, source: str) -> None:
        """Type another text into a cell."""
        self.source[cell] = source

    def delete(self, *cells: str) -> None:
        """Delete cells."""
        for cell in cells:
            self.order.remove(cell)
            self._deleted.append(cell)

    def move(self, cell: str, after: str | None = None) -> None:
        """Move a cell below another, or to the top."""
        self.order.remove(cell)
        self.order.insert(self.order.index(after) + 1 if after else 0, cell)

    def split(self, cell: str, line: int) -> str:
        """Split a cell before a line (from 0); the lower part is a new cell, as in Lab. Returns its id."""
        lines = self.source[cell].splitlines(keepends=True)
        self.source[cell] = "".join(lines[:line]).rstrip("\n")
        return self.insert("".join(lines[line:]), after=cell)

    def merge(self, cell: str, other: str) -> None:
        """Merge a cell with the one below it, which is gone afterwards."""
        self.source[cell] += "\n" + self.source[other]
        self.delete(other)

    def _new(self, source: str) -> str:
        self._made += 1
        cell = chr(ord("a") + self._made - 1)
        self.source[cell] = source
        return cell

    # the kernel

    def run(self, cells: str = "*", *answers: str, source: str | None = None) -> str:
        """Run cells one after the other (``*``: all); ``answers`` are typed where one asks. Returns the text.

        ``source`` is what the kernel is sent where that is not the cell's saved text.
        """
        text = ""
        for cell in "".join(self.order) if cells == "*" else cells:
            text += self.kernel.finish(self._send(cell, source), answers)
        return text

    def run_until(self, cell: str, printed: str, action: str) -> None:
        """Run a cell, and ``interrupt`` or ``kill`` the kernel once a text was printed."""
        request = self._send(cell)
        self.kernel.finish(request, at=lambda text: printed in text)
        if action == "kill":
            self.kernel.kill()
        else:
            self.kernel.interrupt()
            self.kernel.finish(request)

    def run_to_death(self, cell: str) -> None:
        """Run a cell that takes the kernel down with it."""
        try:
            self.kernel.finish(self._send(cell))
        except KernelDied:
            return
        raise AssertionError("the kernel outlived the cell")

    def console(self, source: str) -> str:
        """Run source that belongs to no cell, as the console beside the notebook does."""
        return self.kernel.finish(self.kernel.send(source, {}))

    def restart(self) -> None:
        """Restart the kernel, or start one where it died."""
        self.kernel.restart()

    def write(self, name: str, text: str) -> None:
        """Write a file in the notebook's folder from outside the kernel."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        time.sleep(0.05)  # nobody edits a file within the clock tick of a run
        path.write_text(text, encoding="utf-8")
        time.sleep(0.05)

    def wait(self, seconds: float) -> None:
        """Do nothing for a while."""
        time.sleep(seconds)

    def _send(self, cell: str, source: str | None = None) -> str:
        self._save()
        metadata: dict[str, Any] = {}
        if self.front_end == "lab":
            metadata = {"cellId": cell, "deletedCells": self._deleted}
            self._deleted = []
        elif self.front_end == "foreign":
            metadata = {"cellId": f"vscode-notebook-cell:{self.path}#W{ord(cell)}sZmlsZQ%3D%3D"}
        return self.kernel.send(self.source[cell] if source is None else source, metadata)

    def _save(self) -> None:
        cells = []
        for cell in self.order:
            body: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
            body["source"] = self.source[cell]
            if self.front_end != "plain":
                body["id"] = cell
            cells.append(body)
        minor = 4 if self.front_end == "plain" else 5
        text = json.dumps({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": cells})
        self.path.write_text(text, encoding="utf-8")

    def check(self) -> Any:
        """Save, and ask what the tool says of the file."""
        from jupyter_clusterbridge.app.check import check_notebook_file

        self._save()
        return check_notebook_file(self.path)
