"""Making fixes: from nodes of the tree to edits of the cell's source, and edits applied to a source.

Each helper gives None where the change cannot be made with certainty, such as on a line that a magic has changed
for the parser; the finding is then reported without a fix.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.model.findings import Edit, Fix

_AFTER_ARGUMENT = re.compile(r"[\s),]*")
Place = tuple[int, int]
"""Line from 1 and characters before it from 0."""


def wrap(node: ast.expr, before: str, after: str, cell: CellContext, message: str) -> Fix | None:
    """Put text on both sides of an expression: ``wrap(listing, "sorted(", ")", ...)``."""
    span = span_of(node, cell)
    if span is None:
        return None
    start, end = span
    return Fix(message, (_insert(start, before), _insert(end, after)))


def replace(node: ast.expr, text: str, cell: CellContext, message: str) -> Fix | None:
    """Put text in the place of an expression."""
    span = span_of(node, cell)
    if span is None:
        return None
    return Fix(message, (Edit(*span[0], *span[1], text),))


def replace_text(node: ast.expr | ast.stmt, old: str, new: str, cell: CellContext, message: str) -> Fix | None:
    """Replace the one place where ``old`` stands as whole words on the first line of a node.

    For what has no node of its own, such as the module's name in an import.
    """
    span = span_of(node, cell)
    if span is None:
        return None
    (line, column), (last, end_column) = span
    text = _lines(cell.cell.source)[line - 1]
    found = list(
        re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)").finditer(
            text, column, end_column if last == line else len(text)
        )
    )
    if len(found) != 1:
        return None
    return Fix(message, (Edit(line, found[0].start(), line, found[0].end(), new),))


def add_argument(call: ast.Call, text: str, cell: CellContext, message: str) -> Fix | None:
    """Add an argument such as ``timeout=30`` at the end of a call."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    # a generator without parentheses of its own may be the only argument
    if len(values) == 1 and isinstance(values[0], ast.GeneratorExp):
        return None
    span = span_of(call, cell)
    if span is None:
        return None
    end_line, end_column = span[1]
    close = (end_line, end_column - 1)
    if not values:
        return Fix(message, (_insert(close, text),))
    spans = [span_of(value, cell) for value in values]
    if None in spans:
        return None
    last = max(found[1] for found in spans if found is not None)
    gap = _between(cell.cell.source, last, close)
    if not _AFTER_ARGUMENT.fullmatch(gap):
        return None  # a comment stands there
    kept = gap.rstrip()
    comma = " " if kept.endswith(",") else ", "
    return Fix(message, (_insert(_moved(last, kept), comma + text),))


def set_argument(call: ast.Call, name: str, value: str, cell: CellContext) -> Fix | None:
    """Give a call a keyword argument, or another value for the one that it has."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return replace(keyword.value, value, cell, f"Set `{name}={value}`")
    return add_argument(call, f"{name}={value}", cell, f"Add `{name}={value}`")


def _between(source: str, start: Place, end: Place) -> str:
    lines = source.split("\n")[start[0] - 1 : end[0]]
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return "\n".join(lines)


def _moved(place: Place, text: str) -> Place:
    """The place after a text that begins at another place."""
    line, column = place
    breaks = text.count("\n")
    return (line + breaks, len(text) - text.rfind("\n") - 1) if breaks else (line, column + len(text))


def _insert(place: Place, text: str) -> Edit:
    return Edit(*place, *place, text)


def span_of(node: ast.expr | ast.stmt, cell: CellContext) -> tuple[Place, Place] | None:
    """Where a node begins and ends in the cell's source.

    The tree counts bytes, of a text in which magics, prompts and the common indent may be gone. A line is
    followed back where the source's line ends as the parsed one does; else there is no answer.
    """
    if node.end_lineno is None or node.end_col_offset is None:
        return None
    start = _place(node.lineno, node.col_offset, cell)
    end = _place(node.end_lineno, node.end_col_offset, cell)
    return None if start is None or end is None else (start, end)


def _place(line: int, offset: int, cell: CellContext) -> Place | None:
    source, python = _lines(cell.cell.source), _lines(cell.parsed.python)
    if any("\r" in text or "\f" in text for text in python):  # may break lines for Python, not for us
        return None
    if len(source) != len(python) or not source[line - 1].endswith(python[line - 1]):
        return None
    shift = len(source[line - 1]) - len(python[line - 1])
    before = python[line - 1].encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "surrogatepass")
    return line, shift + len(before)


def _lines(source: str) -> list[str]:
    return [line.removesuffix("\r") for line in source.split("\n")]


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """A source with edits made; they must not overlap.

    >>> apply_edits("a = f(x)", [Edit(1, 4, 1, 4, "sorted("), Edit(1, 8, 1, 8, ")")])
    'a = sorted(f(x))'
    """
    starts = _line_starts(source)
    ordered = sorted(enumerate(edits), key=lambda pair: (_start(pair[1]), pair[0]), reverse=True)
    for _, edit in ordered:
        begin = starts[edit.start_line - 1] + edit.start_column
        end = starts[edit.end_line - 1] + edit.end_column
        source = source[:begin] + edit.text + source[end:]
    return source


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.split("\n")[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _start(edit: Edit) -> tuple[int, int]:
    return edit.start_line, edit.start_column


def _end(edit: Edit) -> tuple[int, int]:
    return edit.end_line, edit.end_column


def without_overlap(fixes: Iterable[Fix]) -> list[Fix]:
    """The fixes of one cell that can be made together; of two that touch, the first stays.

    The whole stretch from a fix's first edit to its last counts, since it is about what stands between them.
    """
    kept: list[Fix] = []
    taken: list[tuple[Place, Place]] = []
    for fix in fixes:
        first, last = _stretch(fix.edits)
        if all(last < start or end < first for start, end in taken):
            kept.append(fix)
            taken.append((first, last))
    return kept


def _stretch(edits: Sequence[Edit]) -> tuple[Place, Place]:
    return min(map(_start, edits)), max(map(_end, edits))
