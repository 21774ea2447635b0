"""Cell source to syntax tree, with IPython's magics and shell escapes set apart and lines kept."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from dataclasses import dataclass

_TARGET = r"\*?[A-Za-z_]\w*(?:\.\w+|\[[^\[\]]*\])*"
_LINE_MAGIC = re.compile(
    rf"^(?P<indent>\s*)(?:(?P<target>{_TARGET}(?:\s*,\s*{_TARGET})*\s*,?(?:\s*:[^=]+?)?)\s*=\s*)?"
    r"(?P<mark>%|!!?)(?P<body>[^%=].*)$"
)
_HELP_FIRST = re.compile(r"^\s*\?{1,2}\s*[%\w*]")
_HELP_LAST = re.compile(r"(?:%{0,2}(?!\d)[\w*]+(?:\.[\w*]+|\[-?\d+\])*)\?{1,2}\s*$")
_AUTOCALL = re.compile(r"^\s*[,;/][A-Za-z_]")
_NUMBER_AND_WORD = re.compile(r"(?:[\d.jJ]|0[xX][\da-fA-F_]+)(?:and|else|for|if|in|is|not|or)\b")
_CELL_MAGIC = re.compile(r"^%%(?P<name>\S+)[ \t]*(?P<body>.*)$")
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In \[\d+\]:|\.{4,}:)(?: |$)")
_PYTHON_CELL_MAGICS = {"time", "timeit", "capture", "prun", "memit", "pyinstrument", "scalene", "wandb"}
_PYTHON_LINE_MAGICS = {"time", "prun", "timeit"}
"""Line magics that run the rest of the line as a statement; all but ``%timeit`` bind the user's names by it."""
_TIMEIT_OPTIONS = re.compile(r"(?:-[nrpv]\s*\S+\s+|-[tcqo]+\s+)*")
_AUTOMAGIC = frozenset(
    {"cat", "cd", "conda", "config", "cp", "env", "history", "ll", "load_ext", "ls", "mamba", "man", "matplotlib"}
    | {"micromamba", "mkdir", "mv", "pip", "pwd", "pylab", "reload_ext", "rm", "rmdir", "run", "time", "timeit"}
    | {"uv", "who", "whos"}
)
"""Line magics that people write without the percent sign, which IPython allows in a cell of one line."""
_NO_AUTOMAGIC = re.compile(r"\s*(?:[=.(\[,:;+*%|&^<>@!]|[-/]\s|(?:in|is|and|or|not|if|for)\b)")


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


def parse_once(source: str) -> ParsedCell:
    """Parse a cell; never raises. What is parsed again and again has :func:`parse_cell`.

    A line magic becomes ``pass`` and ``x = %magic`` becomes ``x = None`` on its own line; what ``%time`` and
    ``%prun`` run stays as a statement. The body of a cell magic that runs Python (``%%time``, ``%%capture``, ...)
    is parsed; that of others (``%%bash``) is not.

    >>> cell = parse_once("files = !ls\\n%matplotlib inline")
    >>> cell.python, [magic.name for magic in cell.magics]
    ('files = None\\npass', ['', 'matplotlib'])
    """
    python, magics = _strip(_clean(source)) if _may_hold_magics(source) else (source, ())
    try:
        return ParsedCell(_parse(python), magics, python)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return ParsedCell(None, magics, python, message or type(error).__name__, line)


@functools.lru_cache(maxsize=2048)
def parse_cell(source: str) -> ParsedCell:
    """Parse a cell like :func:`parse_once`, and keep the trees of the last ones."""
    return parse_once(source)


def _parse(python: str) -> ast.Module:
    if "\\" not in python and not _NUMBER_AND_WORD.search(python):
        return ast.parse(python)
    # Python warns of unknown escapes and of 1or 2 when it parses; such a warning is the user's, when the cell runs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(python)


def _may_hold_magics(source: str) -> bool:
    if "%" in source or "!" in source or "?" in source or "\r" in source:
        return True
    stripped = source.lstrip("\n")
    return stripped[:1] in " \t>,;/." or stripped.startswith("In [") or "\n" not in stripped.strip()


def _clean(source: str) -> str:
    """Take out the prompts and the indent of the first line, as IPython does."""
    lines = source.replace("\r\n", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first) and not first.startswith("..."):
        lines = [_PROMPT.sub("", line) for line in lines]
        first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    if indent:
        lines = [line.removeprefix(indent) for line in lines]
    return "\n".join(lines)


def _strip(source: str) -> tuple[str, tuple[Magic, ...]]:
    lines = source.split("\n")
    magics: list[Magic] = []
    if not _strip_cell_magics(lines, magics):
        return "\n".join([""] * len(lines)), tuple(magics)
    if not magics:
        _strip_automagic(lines, magics)
    quote: str | None = None
    depth = 0
    continued = False
    index = 0
    while index < len(lines):
        if quote is None and depth == 0 and not continued:
            used = _strip_line(lines, index, magics)
            if used:
                index += used
                continue
        quote, depth, continued = _scan(lines[index], quote, depth)
        index += 1
    return "\n".join(lines), tuple(magics)


def _strip_cell_magics(lines: list[str], magics: list[Magic]) -> bool:
    """Take out the cell magics at the top; returns whether what follows is Python."""
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        match = _CELL_MAGIC.match(line)
        if match is None or line.rstrip().endswith("?"):
            return True
        magics.append(Magic("cell", match["name"], match["body"].strip(), number + 1))
        lines[number] = ""
        if match["name"] not in _PYTHON_CELL_MAGICS:
            return False
    return True


def _strip_automagic(lines: list[str], magics: list[Magic]) -> None:
    """Read ``pip install x``, alone in its cell, as ``%pip install x``."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if len(filled) != 1:
        return
    index = filled[0]
    name, _, rest = lines[index].strip().partition(" ")
    if name in _AUTOMAGIC and not _NO_AUTOMAGIC.match(rest):
        magics.append(Magic("line", name, rest.strip(), index + 1))
        lines[index] = _statement(name, rest.strip()) or "pass"


def _strip_line(lines: list[str], index: int, magics: list[Magic]) -> int:
    """Replace the magic that begins at ``index``; returns how many lines it has, 0 when there is none."""
    line = lines[index]
    # a string that is left open here is the beginning of a text that happens to ask something
    if (
        line.rstrip().endswith("?")
        and "#" not in line
        and _HELP_LAST.search(line)
        and _scan(line, None, 0) == (None, 0, False)
    ):
        lines[index] = line[: len(line) - len(line.lstrip())] + "pass"
        return 1
    match = _LINE_MAGIC.match(line)
    if match is None:
        if _HELP_FIRST.match(line) or _AUTOCALL.match(line):
            lines[index] = line[: len(line) - len(line.lstrip())] + "pass"
            return 1
        return 0
    end = index
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    parts = [match["body"], *lines[index + 1 : end + 1]]
    body = " ".join(part.removesuffix("\\").strip() for part in parts)
    target = match["target"].strip() if match["target"] else None
    statement = None
    if match["mark"] == "%":
        name, _, rest = body.partition(" ")
        magics.append(Magic("line", name, rest.strip(), index + 1, target))
        statement = _statement(name, rest.strip())
    else:
        magics.append(Magic("shell", "", body, index + 1, target))
    replacement = f"{target} = {statement or 'None'}" if target else statement or "pass"
    lines[index : end + 1] = [match["indent"] + replacement, *[""] * (end - index)]
    return end - index + 1


def _statement(name: str, rest: str) -> str | None:
    """The Python that a line magic runs in the user's names, if it is Python at all."""
    if name == "timeit":
        rest = _TIMEIT_OPTIONS.sub("", rest, count=1)
    if name not in _PYTHON_LINE_MAGICS or not rest or rest.startswith("-"):
        return None
    try:
        tree = _parse(rest)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return rest if name != "timeit" else _timed(tree, rest)


def _timed(tree: ast.Module, text: str) -> str | None:
    """What ``%timeit`` evaluates: what it assigns stays in a function of its own."""
    node = tree.body[0] if len(tree.body) == 1 else None
    value = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
    return ast.get_source_segment(text, value) if value is not None else None


def _scan(line: str, quote: str | None, depth: int) -> tuple[str | None, int, bool]:
    """Follow quotes, brackets and comments over one line; the last value says whether a backslash ends it."""
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
            return None, max(depth, 0), False
        if character in "\"'":
            quote = line[position : position + 3] if line.startswith(character * 3, position) else character
            position += len(quote)
            continue
        depth += (character in "([{") - (character in ")]}")
        position += 1
    continued = line.endswith("\\")
    if quote is not None and len(quote) == 1 and not continued:
        quote = None
    return quote, max(depth, 0), continued and quote is None
