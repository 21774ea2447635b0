"""Notebook files: JSON whose bytes stay as they are wherever an edit does not touch them."""

from __future__ import annotations

import bisect
import functools
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

from jupyter_clusterbridge.lint.fixes import apply_edits
from jupyter_clusterbridge.lint.sources.base import Edits, SourceFile
from jupyter_clusterbridge.lint.sources.json_places import Literal, SourcePlace, source_places
from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.findings import Edit
from jupyter_clusterbridge.model.notebook import notebook_from_json, parse_json

_Change = tuple[int, int, str]
"""Start and end in the file's text, and what takes the place of what stands there."""


class NotebookFile(SourceFile):
    """A ``.ipynb`` file."""

    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(content, notebook_from_json(parse_json(content, path), path))

    @functools.cached_property
    def _text(self) -> str:
        try:
            return self.content.decode(json.detect_encoding(self.content).replace("-sig", ""), "surrogatepass")
        except UnicodeDecodeError as error:
            raise NotebookUnreadable(f"{self.path}: is not valid JSON ({error})") from None

    @functools.cached_property
    def _places(self) -> list[SourcePlace | None]:
        return source_places(self._text)

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        text = self._text
        return [0, *(i + 1 for i in range(len(text)) if text[i] == "\n")]

    def file_line(self, cell_index: int, line: int) -> int:
        """The line of the file, from 1; of a source that is one string it is where that begins."""
        place = self._places[cell_index]
        if place is None or not place.literals:
            return 1
        at = _character_of_line(self.notebook.cells[cell_index].source, line)
        number, _ = _literal_at(place.literals, at)
        return bisect.bisect_right(self._line_starts, place.literals[number].start)

    def _edited(self, edits: Edits) -> SourceFile:
        changes: list[_Change] = []
        for index, of_cell in edits.items():
            place = self._places[index]
            if place is None:
                raise NotebookUnreadable(f"{self.path}: cell {index} has a source that cannot be edited")
            changes += _changes(self._text, place, self.notebook.cells[index].source, of_cell)
        text = self._text
        # edits at one place come in their order, so that the last is to be put in first
        ordered = sorted(enumerate(changes), key=lambda pair: (pair[1][0], pair[0]), reverse=True)
        for _, (start, end, new) in ordered:
            text = text[:start] + new + text[end:]
        encoding = json.detect_encoding(self.content).replace("-sig", "")
        return NotebookFile(text.encode(encoding, "surrogatepass"), self.path)


def _character_of_line(source: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = source.find("\n", at) + 1
    return at


def _literal_at(literals: Sequence[Literal], at: int) -> tuple[int, int]:
    """Which literal a character of the whole source stands in, and how many characters stand before it there."""
    begins = [0, *itertools.accumulate(len(literal.value) for literal in literals)]
    number = min(bisect.bisect_right(begins, at), len(literals)) - 1
    return number, at - begins[number]


def _changes(text: str, place: SourcePlace, source: str, edits: Sequence[Edit]) -> list[_Change]:
    """Changes of the file's text for the edits of one cell: within the literals, or else all of them anew."""
    changes: list[_Change] = []
    for edit in edits:
        start = _character_of_line(source, edit.start_line) + edit.start_column
        end = _character_of_line(source, edit.end_line) + edit.end_column
        breaks = "\n" in edit.text or "\n" in source[start:end]
        if not place.literals or (place.is_list and breaks):
            return [_all_anew(text, place, apply_edits(source, edits))]
        number, within = _literal_at(place.literals, start)
        literal = place.literals[number]
        if within + end - start > len(literal.value):
            return [_all_anew(text, place, apply_edits(source, edits))]
        offsets = literal.offsets(text)
        changes.append((offsets[within], offsets[within + end - start], _quoted(edit.text, text, literal)[1:-1]))
    return changes


def _quoted(value: str, text: str, like: Literal | None) -> str:
    """A JSON string, with characters beyond ASCII written as in another one."""
    raw = like is not None and not text[like.start : like.end].isascii()
    return json.dumps(value, ensure_ascii=not raw)


def _all_anew(text: str, place: SourcePlace, source: str) -> _Change:
    """The whole value, with a list laid out as the old one was."""
    like = place.literals[0] if place.literals else None
    if not place.is_list:
        return place.start, place.end, _quoted(source, text, like)
    if not place.literals:
        return place.start, place.end, json.dumps([source])
    parts = source.split("\n")
    lines = [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    first, last = place.literals[0], place.literals[-1]
    between = text[first.end : place.literals[1].start] if len(place.literals) > 1 else None
    if between is None:
        between = "," + (text[place.start + 1 : first.start] or " ")
    body = between.join(_quoted(line, text, like) for line in lines)
    return place.start, place.end, text[place.start : first.start] + body + text[last.end : place.end]
