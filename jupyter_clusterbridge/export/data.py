"""Which files a bundle ships and which it only declares."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.export.project import SYSTEM, LocalFiles
from jupyter_clusterbridge.export.secrets import holds_secret, is_litter
from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.events import FileRead, FileWrite
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.model.record import FileRecord, ListingRecord, RunRecord
from jupyter_clusterbridge.runtime.journal import Journal

LARGEST_FILE = 10 << 20
LARGEST_PROJECT = 50 << 20
_PACKAGES = {"site-packages", "dist-packages"}
# begins a literal or a word, and ends it, or goes on with a last part that the program makes
_NAMED = r"""(?m)(?:^|["'\s=(]){}(?:/?(?:["'\s)]|$)|/[^"'\s/]*[{{*])"""
_CODE = (".py", ".pyi", ".ipynb")


@dataclass
class DataPlan:
    """What the job gets and what it must find."""

    ship: dict[str, Path] = field(default_factory=dict)
    """Files for ``project/`` by their path below the notebook's folder."""
    declared: list[FileRecord] = field(default_factory=list)
    listings: list[ListingRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    """Recorded absolute paths that the text itself names, so that the bundle may."""

    def may_name(self, path: str) -> bool:
        """Whether the bundle may name a recorded absolute path."""
        return path in self.outside


class DataPlanner:
    """Joins what the session read with what the text names.

    Args:
        notebook: the notebook as the job runs it.
        local: what its text names.
        record: its recorded run, if there is one.
        journals: its journals, for the order of reads and writes.
    """

    def __init__(
        self, notebook: Notebook, local: LocalFiles, record: RunRecord | None, journals: Sequence[Journal]
    ) -> None:
        self._root = Path(os.path.abspath(notebook.path.parent))
        self._own = notebook.path.name
        self._text = "\n".join(cell.source for cell in notebook.code_cells)
        self._local = local
        self._record = record
        self._written = written_first(journals)
        self._size = 0
        self._plan = DataPlan(warnings=list(local.unshipped))

    def plan(self) -> DataPlan:
        """Decide on every file, code first, then data by path, within the limits on size."""
        for path in sorted(self._local.code):
            self._ship_code(path)
        for file in self._candidates():
            self._add(file)
        for listing in self._record.listings if self._record is not None else ():
            place = self._place(listing.path)
            if place is not None and not is_litter(place):
                self._plan.listings.append(
                    ListingRecord(
                        place, listing.count, listing.order_digest, listing.set_digest, listing.cell_index
                    )
                )
        return self._plan

    def _ship_code(self, path: str) -> None:
        source = self._root / path
        _check_readable(source, path)
        self._size += source.stat().st_size
        self._plan.ship[path] = source

    def _candidates(self) -> Iterable[FileRecord]:
        """Data files by path; what the session saw comes before what the text alone names."""
        found: dict[str, FileRecord] = {}
        hidden = 0
        for file in self._record.files if self._record is not None else ():
            place = self._place(file.path)
            if place is None:
                hidden += not self._belongs_to_system(file.path)
            elif place not in self._written:
                found[place] = FileRecord(place, file.size, file.digest, file.cell_index)
        for named in (self._local.inputs, self._local.outside):
            for path, cell in named.items():
                if path not in self._written and path not in found:
                    found[path] = FileRecord(path, -1, None, cell)
        if hidden:
            self._plan.warnings.append(
                f"{hidden} file(s) outside of the notebook's folder were read that no cell names (a library's "
                "cache, for example); they are not declared as data."
            )
        return [found[path] for path in sorted(found)]

    def _add(self, file: FileRecord) -> None:
        path = file.path
        if is_litter(path) or path == self._own or path in self._plan.ship or _PACKAGES & set(path.split("/")):
            return
        if holds_secret(self._root, path):
            if not any(told.startswith(f"{path} looks like") for told in self._plan.warnings):
                self._plan.warnings.append(
                    f"{path} looks like a secret and is neither shipped nor declared; "
                    "give it to the job as a secret."
                )
            return
        source = self._root / os.path.expanduser(path)
        inside = not path.startswith(("/", "~", "../"))
        try:
            size = source.stat().st_size
        except OSError:
            self._plan.warnings.append(f"{path} was read in the session and is gone; the job needs it as data.")
            self._plan.declared.append(file)
            return
        _check_readable(source, path)
        if inside and path.endswith(_CODE):
            self._ship_code(path)
            return
        fits = size <= LARGEST_FILE and self._size + size <= LARGEST_PROJECT
        digest = self._digest(file, source, size, inside and fits)
        self._plan.declared.append(FileRecord(path, size, digest, file.cell_index))
        if inside and fits:
            self._size += size
            self._plan.ship[path] = source
        elif inside:
            self._plan.warnings.append(
                f"{path} ({size} bytes) is too large to ship; the job needs it as data, with the declared digest."
            )

    def _digest(self, file: FileRecord, source: Path, size: int, shipped: bool) -> str:
        """Digest of the file as it is; one that is not shipped is read again only when its size has changed."""
        if file.digest is not None and file.size == size and not shipped:
            return file.digest
        digest = digest_file(source)
        if file.digest is not None and digest != file.digest:
            self._plan.warnings.append(f"{file.path} has changed since the notebook read it.")
        return digest

    def _place(self, path: str) -> str | None:
        """A path as the bundle may name it: below the folder, or as the text itself names it; None for no such."""
        if not path.startswith(("/", "~")):
            return path
        if self._belongs_to_system(path):
            return None
        full = os.path.expanduser(path)
        above = os.path.relpath(full, self._root).replace(os.sep, "/")
        found = next((place for place in (path, above, full) if self._named(place)), None)
        if found is not None:
            self._plan.outside.add(path)
        return found

    def _named(self, place: str) -> bool:
        """Whether the text names the path, a pattern for it, or a folder above it."""
        parts = place.split("/")
        heads = ("/".join(parts[:end]) for end in range(len(parts), 1, -1))
        return any(re.search(_NAMED.format(re.escape(head)), self._text) for head in heads)

    def _belongs_to_system(self, path: str) -> bool:
        return path.startswith(SYSTEM) or bool(_PACKAGES & set(path.split("/")))


def _check_readable(source: Path, path: str) -> None:
    if not os.access(source, os.R_OK):
        raise NotebookUnreadable(
            f"{path}: the notebook needs it, and it cannot be read", hint="Change the permissions of that file."
        )


def written_first(journals: Sequence[Journal]) -> set[str]:
    """Files that the newest session which touched them wrote before it read them: products, not inputs."""
    first: dict[str, bool] = {}
    for journal in reversed(journals):
        seen: dict[str, bool] = {}
        for event in journal.events:
            if isinstance(event, FileWrite) or (isinstance(event, FileRead) and not event.own):
                seen.setdefault(event.path, isinstance(event, FileWrite))
        for path, written in seen.items():
            first.setdefault(path, written)
    return {path for path, written in first.items() if written}
