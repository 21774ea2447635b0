"""Cell source to syntax tree, with IPython's magics and shell escapes set apart and lines kept."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

_LINE_MAGIC = re.compile(
    r"^(?P<indent>\s*)(?:(?P<target>[A-Za-z_][\w.,\s\[\]'\"]*?)\s*=\s*)?(?P<mark>%|!!?)(?P<body>[^%=].*)$"
)
_HELP = re.compile(r"^\s*\?{1,2}[A-Za-z_][\w.]*\s*$|^\s*[A-Za-z_%][\w.]*\?{1,2}\s*$")
_CELL_MAGIC = re.compile(r"^\s*%%(?P<name>\S+)[ \t]*(?P<body>.*)$")
_PYTHON_CELL_MAGICS = {"time", "timeit", "capture", "prun", "python_cell"}


@dataclass(frozen=True)
class Magic:
    """One magic or shell escape."""

    kind: str
    """``line``, ``cell`` or ``shell``."""
    name: str
    """The magic's name without marks; empty for a shell escape."""
    body: str
    """What follows the name; the command of a shell escape."""
    line: int
    """Line in the cell, from 1."""
    target: str | None = None
    """Left side of ``target = %magic`` or ``target = !command``."""


@dataclass(frozen=True)
class ParsedCell:
    """A cell's syntax tree and its magics."""

    tree: ast.Module | None
    """None when the rest is not Python, with the reason in ``error``."""
    magics: tuple[Magic, ...]
    python: str
    """The source with magics replaced by neutral statements of the same line."""
    error: str | None = None
    error_line: int | None = None


@functools.lru_cache(maxsize=2048)
def parse_cell(source: str) -> ParsedCell:
    """Parse a cell; never raises.

    A line magic becomes ``pass`` and ``x = %magic`` becomes ``x = None`` on its own line. The body of a cell
    magic that runs Python (``%%time``, ``%%capture``, ...) is parsed; that of others (``%%bash``) is not.
    """
    if "%" in source or "!" in source or "?" in source:
        python, magics = _strip(source)
    else:
        python, magics = source, ()
    try:
        return ParsedCell(ast.parse(python), magics, python)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return ParsedCell(None, magics, python, message, line)


def _strip(source: str) -> tuple[str, tuple[Magic, ...]]:
    lines = source.split("\n")
    magics: list[Magic] = []
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    cell = _CELL_MAGIC.match(lines[first]) if first is not None else None
    if first is not None and cell is not None:
        magics.append(Magic("cell", cell["name"], cell["body"], first + 1))
        lines[first] = ""
        if cell["name"] not in _PYTHON_CELL_MAGICS:
            return "\n".join([""] * len(lines)), tuple(magics)
    inside = _string_lines("\n".join(lines))
    index = 0
    while index < len(lines):
        used = 1 if index in inside else _strip_line(lines, index, magics)
        index += used
    return "\n".join(lines), tuple(magics)


def _strip_line(lines: list[str], index: int, magics: list[Magic]) -> int:
    """Replace the magic that begins at ``index``, if any; returns how many lines were handled."""
    match = _LINE_MAGIC.match(lines[index])
    if match is None:
        if _HELP.match(lines[index]):
            lines[index] = "pass"
        return 1
    end = index
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    body = " ".join([match["body"], *lines[index + 1 : end + 1]]).replace("\\ ", " ").strip()
    target = match["target"]
    if match["mark"] == "%":
        name, _, rest = body.partition(" ")
        magics.append(Magic("line", name, rest.strip(), index + 1, target))
    else:
        magics.append(Magic("shell", "", body, index + 1, target))
    lines[index] = f"{match['indent']}{target} = None" if target else f"{match['indent']}pass"
    for extra in range(index + 1, end + 1):
        lines[extra] = ""
    return end - index + 1


def _string_lines(source: str) -> set[int]:
    """Indices of lines that begin inside a triple-quoted string or an open bracket, where no magic can be."""
    inside: set[int] = set()
    quote: str | None = None
    depth = 0
    for number, line in enumerate(source.split("\n")):
        if quote is not None or depth > 0:
            inside.add(number)
        elif _LINE_MAGIC.match(line) or _HELP.match(line):
            continue
        quote, depth = _scan(line, quote, depth)
    return inside


def _scan(line: str, quote: str | None, depth: int) -> tuple[str | None, int]:
    """Follow quotes, brackets and comments over one line."""
    position = 0
    while position < len(line):
        if quote is not None:
            if line.startswith(quote, position):
                position += len(quote)
                quote = None
            else:
                position += 2 if line[position] == "\\" else 1
            continue
        character = line[position]
        if character == "#":
            break
        if character in "\"'":
            quote = line[position : position + 3] if line.startswith(character * 3, position) else character
            position += len(quote)
            continue
        depth += (character in "([{") - (character in ")]}")
        position += 1
    if quote is not None and len(quote) == 1:
        quote = None
    return quote, max(depth, 0)
