"""Percent scripts: Python files whose cells begin with ``# %%``, as jupytext, VS Code and Spyder write them."""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import tokenize
from io import BytesIO, StringIO
from pathlib import Path

from jupyter_clusterbridge.lint.fixes import apply_edits
from jupyter_clusterbridge.lint.sources.base import Edits, SourceFile
from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.findings import Edit
from jupyter_clusterbridge.model.notebook import Cell, Notebook, stand_in_id

_MAGIC_LINE = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)
_MARKER = re.compile(r"# ?(?:%%+(?![\w!])|In ?\[[\d ]*\]|<codecell>|<markdowncell>)(?P<rest>.*)")
_KIND = re.compile(r"\[(?P<kind>markdown|md|raw)\]|<markdowncell>|cell_type=[\"'](?P<named>markdown|raw)[\"']")
_TAGS = re.compile(r"\btags=(\[[^\]]*\])")
_LANGUAGE = re.compile(r"\blanguage=[\"'](?P<language>\w+)[\"']")
_COMMENTED_MAGIC = re.compile(r"(?P<mark># ?)(?=%{1,2}[A-Za-z]|!{1,2}[A-Za-z./~{$\"])")
_ESCAPED_MAGIC = re.compile(r"(?P<mark>#!)(?=%|!)")
_JUPYTEXT_HEAD = re.compile(r"# ---\s*\n(?:#.*\n)*?# jupy(?:ter|text):", re.MULTILINE)
_LONG_QUOTES = ('"""', "'''")


def is_percent_script(text: str) -> bool:
    """Whether a text has a line that begins a cell.

    >>> is_percent_script("# %% load\\nx = 1"), is_percent_script("x = 1  # %% of all")
    (True, False)
    """
    return ("# %%" in text or "#%%" in text or "# In" in text) and any(
        _MARKER.match(line) for line in text.splitlines()
    )


class ScriptFile(SourceFile):
    """A Python file; without any ``# %%`` it is one cell."""

    def __init__(self, content: bytes, path: Path) -> None:
        self._encoding, text = _decoded(content, path)
        self._cells = _split(text)
        notebook = Notebook(path, tuple(cell.as_cell(index) for index, cell in enumerate(self._cells)))
        super().__init__(content, notebook)

    def file_line(self, cell_index: int, line: int) -> int:
        """The line of the file, from 1, in which a line of a cell stands."""
        return self._cells[cell_index].first_line + line - 1

    def _edited(self, edits: Edits) -> SourceFile:
        moved: list[Edit] = []
        for index, of_cell in edits.items():
            moved += [self._cells[index].in_file(edit) for edit in of_cell]
        _, text = _decoded(self.content, self.path)
        mark = text[: len(text) - len(text.removeprefix("\ufeff"))]
        return ScriptFile((mark + apply_edits(text[len(mark) :], moved)).encode(self._encoding), self.path)


class _ScriptCell:
    """One cell of a script, with what has been taken from the beginning of its lines."""

    def __init__(self, first_line: int, lines: list[str], marker: str | None, shifts: dict[int, int]) -> None:
        self.first_line = first_line
        self._source = "".join(line[shifts.get(number, 0) :] for number, line in enumerate(lines, start=1))
        self._marker = marker or ""
        self._shifts = shifts

    def as_cell(self, index: int) -> Cell:
        """The cell as all of ours see it."""
        source = self._source.rstrip("\r\n")
        match = _KIND.search(self._marker)
        kind = "code" if match is None else match["kind"] or match["named"] or "markdown"
        kind = "markdown" if kind == "md" else kind
        return Cell(stand_in_id(index, source), index, kind, source, _tags(self._marker))

    def in_file(self, edit: Edit) -> Edit:
        """An edit of the cell as one of the file."""
        above = self.first_line - 1
        return Edit(
            edit.start_line + above,
            edit.start_column + self._shifts.get(edit.start_line, 0),
            edit.end_line + above,
            edit.end_column + self._shifts.get(edit.end_line, 0),
            edit.text,
        )


def _decoded(content: bytes, path: Path) -> tuple[str, str]:
    """The encoding that the file declares, and its text."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        return encoding, content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise NotebookUnreadable(
            f"{path}: is no Python source ({error})", hint="Save the file as UTF-8 text."
        ) from None


def _split(text: str) -> list[_ScriptCell]:
    lines = text.removeprefix("\ufeff").split("\n")
    lines = [line + "\n" for line in lines[:-1]] + [lines[-1]]
    starts = [number for number, line in enumerate(lines) if _MARKER.match(line)]
    if starts and any(quotes in text for quotes in _LONG_QUOTES):
        held = _lines_in_strings(text.removeprefix("\ufeff"))
        starts = [number for number in starts if number + 1 not in held]
    magics = _JUPYTEXT_HEAD.match(text) is not None
    cells: list[_ScriptCell] = []
    before = lines[: starts[0]] if starts else lines
    if not starts or any(line.strip() and not line.startswith("#") for line in before):
        cells.append(_cell(1, before, None, magics))
    for start, end in itertools.pairwise([*starts, len(lines)]):
        match = _MARKER.match(lines[start])
        assert match is not None
        language = _LANGUAGE.search(match[0]) if magics else None
        if language is not None:
            cells.append(_foreign(start + 1, lines[start + 1 : end], language["language"]))
        else:
            cells.append(_cell(start + 2, lines[start + 1 : end], match[0], magics))
    return cells


def _foreign(first_line: int, lines: list[str], language: str) -> _ScriptCell:
    """A cell of ``%%bash`` and the like, which jupytext keeps in comments below ``# %% language="bash"``.

    The mark stands for the magic. Nothing is ever edited in such a cell, since it holds no Python.
    """
    body = [re.sub(r"^# ?", "", line) for line in lines]
    return _ScriptCell(first_line, [f"%%{language}\n", *body], None, {})


def _lines_in_strings(text: str) -> set[int]:
    """Lines from 1 that begin within a string, as far as the text is Python; a cell's mark there is none.

    The quotes of a markdown cell begin after its mark, so that the mark itself stands outside.
    """
    held: set[int] = set()
    # from Python 3.12 on the quote of `!echo don't` would end the tokens
    python = _MAGIC_LINE.sub("", text)
    with contextlib.suppress(tokenize.TokenError, SyntaxError):  # a quote that never ends holds nothing
        for token in tokenize.generate_tokens(StringIO(python).readline):
            held.update(range(token.start[0] + 1, token.end[0] + 1))
    return held


def _cell(first_line: int, lines: list[str], marker: str | None, magics: bool) -> _ScriptCell:
    """One cell; jupytext and VS Code keep magics in comments, which makes the file run as plain Python too."""
    shifts: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        match = _ESCAPED_MAGIC.match(line) or (_COMMENTED_MAGIC.match(line) if magics else None)
        if match is not None:
            shifts[number] = len(match["mark"])
    return _ScriptCell(first_line, lines, marker, shifts)


def _tags(marker: str) -> tuple[str, ...]:
    match = _TAGS.search(marker)
    try:
        tags = ast.literal_eval(match[1]) if match else []
    except (ValueError, SyntaxError):
        return ()
    return tuple(tag for tag in tags if isinstance(tag, str))
