"""Comments that silence rules: ``# clusterbridge: ignore[CB203]`` on a line, ``ignore-file[...]`` for the file."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

from jupyter_clusterbridge.runtime.source import ParsedCell

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


def ignore_comments(source: str, parsed: ParsedCell) -> tuple[IgnoreComment, ...]:
    """The comments of a cell, also those that are written wrongly, but not what stands in a string.

    >>> from jupyter_clusterbridge.runtime.source import parse_once
    >>> cell = "x = 1  # clusterbridge: ignore[CB203, cb1]\\ny = '# clusterbridge: ignore[CB101]'"
    >>> ignore_comments(cell, parse_once(cell))
    (IgnoreComment(line=1, form='ignore', codes=('CB203', 'CB1')),)
    """
    if "clusterbridge:" not in source.lower():
        return ()
    python = _comments_of_python(parsed)
    return tuple(
        IgnoreComment(number, match["form"].lower(), _codes(match["codes"] or ""))
        for number, line in enumerate(source.split("\n"), start=1)
        for match in _COMMENT.finditer(line if python is None else python.get(number, line))
    )


def _comments_of_python(parsed: ParsedCell) -> dict[int, str] | None:
    """The comment of each line that Python reads, empty where there is none; lines of magics are left out.

    None for a cell that is not Python, where nobody can tell a comment from a string.
    """
    if parsed.tree is None:
        return None
    lines = parsed.python.split("\n")
    magics = {magic.line for magic in parsed.magics}
    # a magic's line, and one that belongs to it such as the body of %%bash, is gone from what Python reads
    found = {
        n: "" for n, line in enumerate(lines, start=1) if n not in magics and line.strip() not in ("", "pass")
    }
    try:
        for token in tokenize.generate_tokens(io.StringIO(parsed.python).readline):
            if token.type == tokenize.COMMENT and token.start[0] in found:
                found[token.start[0]] = token.string
    except (tokenize.TokenError, SyntaxError):
        return None
    return found


def _codes(text: str) -> tuple[str, ...]:
    return tuple(part.strip().upper() for part in text.split(",") if part.strip())
