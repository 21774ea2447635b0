"""Files that shell commands write, as far as their text tells it: redirections and ``tee``."""

from __future__ import annotations

import functools
import posixpath
import re

from jupyter_clusterbridge.runtime.source import parse_cell

_SHELLS = frozenset({"bash", "sh", "script"})
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_COMMENT = re.compile(r"(^|\s)#.*")
_NAME = r"([A-Za-z0-9_./~+-]*[A-Za-z0-9_])(?![A-Za-z0-9_./~+$({*?-])"
_REDIRECTION = re.compile(rf"(?<![<>=-])(?:\d|&)?(>>|>)\|?\s*{_NAME}")
_TEE = re.compile(rf"\|\s*tee\s+(-a\s+|--append\s+)?{_NAME}")


@functools.lru_cache(maxsize=2048)
def shell_writes(source: str) -> dict[str, bool]:
    """Paths that the shell commands of a cell write, each with whether they are added to.

    >>> shell_writes("!echo row >> log.txt")
    {'log.txt': True}
    >>> shell_writes("%%bash\\nsort < a > out/b.csv 2> /dev/null")
    {'out/b.csv': False}
    """
    found: dict[str, bool] = {}
    for text in _commands(source):
        plain = _COMMENT.sub("", _QUOTED.sub(" ", text))
        for mark, path in _REDIRECTION.findall(plain):
            _add(found, path, mark == ">>")
        for append, path in _TEE.findall(plain):
            _add(found, path, bool(append))
    return found


def _commands(source: str) -> list[str]:
    magics = parse_cell(source).magics
    lines = source.splitlines()
    if any(magic.kind == "cell" and magic.name in _SHELLS for magic in magics):
        first = next(magic.line for magic in magics if magic.kind == "cell")
        return lines[first:]
    return [magic.body for magic in magics if magic.kind == "shell"]


def _add(found: dict[str, bool], path: str, appends: bool) -> None:
    path = posixpath.normpath(path)
    if path.startswith("/dev/"):
        return
    found[path] = appends and found.get(path, True)
