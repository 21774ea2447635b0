"""How events stand in a journal: what stood there before is named, not written again.

A cell that runs a hundred times has one source, an environment of four hundred packages changes in one of them, a
training cell reads the same thousand files each time. Each of these stands in a journal once:

- a ``cell_start`` whose source stood before has a ``source_digest`` in its place;
- a ``file_read``, ``file_write`` or ``listing`` that stood before, but for its run, has ``again``: the number of
  the line, from 1;
- an ``environment`` has only the distributions that differ from those of the last one, and the names of those that
  are ``gone``.

References point backwards in the same file, so that a torn end costs nothing else.
"""

from __future__ import annotations

from typing import TypeAlias

import xxhash

from jupyter_clusterbridge.model.canonical import canonical_json, digest_text
from jupyter_clusterbridge.model.codec import Json
from jupyter_clusterbridge.model.errors import DocumentInvalid
from jupyter_clusterbridge.model.events import (
    CellStart,
    EnvironmentSeen,
    FileRead,
    FileWrite,
    Listing,
)

Line: TypeAlias = "dict[str, Json]"
_REPEATED = frozenset({FileRead.EVENT, FileWrite.EVENT, Listing.EVENT})
_SHORT = 80
"""Characters up to which a source is written in place of its digest."""


class LineWriter:
    """Takes out of each line what stood before; holds digests, no source and no file's name.

    Args:
        lines: number of lines that the journal has already.
    """

    def __init__(self, lines: int = 0) -> None:
        self._lines = lines
        self._sources: set[str] = set()
        self._seen: dict[bytes, int] = {}
        self._distributions: list[Json] | None = None

    def compact(self, line: Line) -> Line:
        """The line to write for a whole event; must be called once for each line that is written, in order."""
        self._lines += 1
        event = line["event"]
        if event == CellStart.EVENT:
            return self._cell(line)
        if event in _REPEATED:
            return self._repeated(line)
        if event == EnvironmentSeen.EVENT:
            return self._environment(line)
        return line

    def _cell(self, line: Line) -> Line:
        source = line["source"]
        if not isinstance(source, str) or len(source) <= _SHORT:
            return line
        digest = digest_text(source)
        if digest not in self._sources:
            self._sources.add(digest)
            return line
        return {**{key: value for key, value in line.items() if key != "source"}, "source_digest": digest}

    def _repeated(self, line: Line) -> Line:
        rest = canonical_json({key: value for key, value in line.items() if key != "run"})
        first = self._seen.setdefault(xxhash.xxh3_128_digest(rest), self._lines)
        if first == self._lines:
            return line
        return {"event": line["event"], "run": line["run"], "again": first}

    def _environment(self, line: Line) -> Line:
        environment = line["environment"]
        assert isinstance(environment, dict)
        now = environment["distributions"]
        assert isinstance(now, list)
        before, self._distributions = self._distributions, now
        if before is None:
            return line
        known = {str(_name(one)): one for one in before}
        fresh: list[Json] = [one for one in now if known.get(str(_name(one))) != one]
        names = {_name(one) for one in now}
        gone: list[Json] = [_name(one) for one in before if _name(one) not in names]
        if _merged(before, fresh, gone) != now:  # two of one name, or another order
            return line
        return {**line, "environment": {**environment, "distributions": fresh}, "gone": gone}


class LineReader:
    """Puts back what :class:`LineWriter` took out; a line of an old journal passes as it is."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        self._lines: list[Line] = []
        self._distributions: list[Json] = []

    def expand(self, line: Line, where: str) -> Line:
        """The whole event of a line; must be called for every line in order.

        Raises:
            DocumentInvalid: what the line refers to did not stand before it.
        """
        whole = self._whole(line, where)
        self._lines.append(whole if whole.get("event") in _REPEATED else {})
        return whole

    def _whole(self, line: Line, where: str) -> Line:
        event = line.get("event")
        if event == CellStart.EVENT:
            return self._cell(line, where)
        if event in _REPEATED and "again" in line:
            return self._again(line, where)
        if event == EnvironmentSeen.EVENT:
            return self._environment(line)
        return line

    def _cell(self, line: Line, where: str) -> Line:
        source, digest = line.get("source"), line.get("source_digest")
        if isinstance(source, str):
            if len(source) > _SHORT:
                self._sources[digest_text(source)] = source
            return line
        if not isinstance(digest, str) or digest not in self._sources:
            raise DocumentInvalid(f"{where}: the source it names does not stand before it")
        return {**line, "source": self._sources[digest]}

    def _again(self, line: Line, where: str) -> Line:
        number = line["again"]
        found = self._lines[number - 1] if isinstance(number, int) and 0 < number <= len(self._lines) else {}
        if found.get("event") != line["event"]:
            raise DocumentInvalid(f"{where}: the line it names is not of its kind")
        return {**found, "run": line.get("run")}

    def _environment(self, line: Line) -> Line:
        environment = line.get("environment")
        found = environment.get("distributions") if isinstance(environment, dict) else None
        if not isinstance(environment, dict) or not isinstance(found, list):
            return line
        gone = line.get("gone")
        self._distributions = _merged(self._distributions, found, gone) if isinstance(gone, list) else found
        return {**line, "environment": {**environment, "distributions": self._distributions}}


def _name(distribution: Json) -> Json:
    return distribution.get("name") if isinstance(distribution, dict) else None


def _merged(before: list[Json], fresh: list[Json], gone: list[Json]) -> list[Json]:
    """The distributions by name, with the new ones in place of the old."""
    found = {str(_name(one)): one for one in before if _name(one) not in gone}
    found.update((str(_name(one)), one) for one in fresh)
    return [found[name] for name in sorted(found)]
