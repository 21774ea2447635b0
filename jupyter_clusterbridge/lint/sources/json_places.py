"""Where in the text of a notebook file the sources of its cells stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACE = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_decode = json.JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True)
class Literal:
    """One JSON string."""

    start: int
    """Where its opening quote stands."""
    end: int
    """Behind its closing quote."""
    value: str

    def offsets(self, text: str) -> list[int]:
        """Where each character of the value begins in the text, and last the closing quote."""
        found = _CHARACTER.finditer(text, self.start + 1, self.end - 1)
        return [*(match.start() for match in found), self.end - 1]


@dataclass(frozen=True)
class SourcePlace:
    """The value of one cell's ``source``."""

    start: int
    end: int
    literals: tuple[Literal, ...]
    """The string, or those of the list."""
    is_list: bool


def source_places(text: str) -> list[SourcePlace | None]:
    """The place of each cell's source; None where a cell has none, or one with other things than strings.

    Args:
        text: a notebook file that has been read without an error.
    """
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    places: list[SourcePlace | None] = []
    for key, start, _ in _members(text, at):
        if key == "cells":
            places = [_source_of(text, cell_start) for cell_start in _items(text, start)]
    return places


def _source_of(text: str, start: int) -> SourcePlace | None:
    found: SourcePlace | None = None
    for key, value_start, value_end in _members(text, start):
        if key == "source":
            found = _source_place(text, value_start, value_end)
    return found


def _source_place(text: str, start: int, end: int) -> SourcePlace | None:
    is_list = text[start] == "["
    starts = _items(text, start) if is_list else iter([start])
    literals: list[Literal] = []
    for item in starts:
        if text[item] != '"':
            return None
        value, item_end = _decode(text, item)
        literals.append(Literal(item, item_end, value))
    return SourcePlace(start, end, tuple(literals), is_list)


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of the value for each member of the object that begins at ``start``."""
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        _, end = _decode(text, value)
        yield key, value, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _items(text: str, start: int) -> Iterator[int]:
    """Start of each item of the list that begins at ``start``."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        yield at
        _, end = _decode(text, at)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
