"""Comments that silence rules: ``# clusterbridge: ignore[CB203]`` on a line, ``ignore-file[...]`` for the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"#\s*clusterbridge:\s*(?P<form>[\w-]*)[ \t]*(?:\[(?P<codes>[^\]\n]*)\])?", re.IGNORECASE)
LINE_FORM = "ignore"
FILE_FORM = "ignore-file"


@dataclass(frozen=True)
class IgnoreComment:
    """One such comment."""

    line: int
    """Line in the cell, from 1."""
    form: str
    codes: tuple[str, ...]
    """Codes or beginnings of codes, in capitals; empty where none is named."""

    @property
    def for_file(self) -> bool:
        """Whether it holds for every cell."""
        return self.form == FILE_FORM


def ignore_comments(source: str) -> tuple[IgnoreComment, ...]:
    """The comments of a cell, also those that are written wrongly.

    >>> ignore_comments("x = 1  # clusterbridge: ignore[CB203, cb1]")
    (IgnoreComment(line=1, form='ignore', codes=('CB203', 'CB1')),)
    """
    if "clusterbridge:" not in source.lower():
        return ()
    return tuple(
        IgnoreComment(number, match["form"].lower(), _codes(match["codes"] or ""))
        for number, line in enumerate(source.split("\n"), start=1)
        for match in _COMMENT.finditer(line)
    )


def _codes(text: str) -> tuple[str, ...]:
    return tuple(part.strip().upper() for part in text.split(",") if part.strip())
