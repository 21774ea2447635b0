"""Installs in the middle of a notebook: which packages a cell's magics and shell escapes name."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_clusterbridge.runtime.source import parse_cell

_TOOLS = {"pip", "pip3", "uv", "conda", "mamba", "micromamba", "poetry", "pixi"}
_VERBS = {"install", "add", "sync"}
_WITH_VALUE = {
    "-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "--index", "-f",
    "--find-links", "-t", "--target", "--prefix", "--root", "--src", "--proxy", "--cert", "--python", "-p", "-n",
    "--name", "--channel", "--trusted-host", "--config-settings", "--default-index", "--index-strategy",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")


@dataclass(frozen=True)
class Install:
    """One install command."""

    tool: str
    """As it was written, for example ``%pip install`` or ``!uv pip install``."""
    packages: tuple[str, ...]
    """Requirements as written, links and paths reduced to a name: they may hold a secret."""


def find_installs(source: str) -> tuple[Install, ...]:
    """The install commands of a cell.

    >>> find_installs("%pip install -q rich==13.0 'numpy>=2'")
    (Install(tool='%pip install', packages=('rich==13.0', 'numpy>=2')),)
    """
    if not any(word in source for word in ("install", " add", "sync")):
        return ()
    parsed = parse_cell(source)
    found: list[Install | None] = [_command(text, "") for text in _called(parsed.tree)]
    for magic in parsed.magics:
        if magic.kind == "line":
            found.append(_command(f"{magic.name} {magic.body}", "%"))
        elif magic.kind == "shell":
            found.extend(_command(part, "!") for part in re.split(r"&&|\|\||;", magic.body))
        elif magic.name in ("bash", "sh", "script"):
            found.extend(_command(line, "") for line in source.splitlines())
    return tuple(install for install in found if install is not None)


def _called(tree: ast.Module | None) -> Iterator[str]:
    """Commands that are started from Python, as far as they are written out."""
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        owner, name = ast.unparse(node.func.value), node.func.attr
        if name == "run_line_magic" and len(node.args) > 1:
            yield f"{_text(node.args[0])} {_text(node.args[1])}"
        elif owner == "subprocess" or (owner, name) == ("os", "system") or owner == "get_ipython()":
            yield _text(node.args[0])


def _text(node: ast.expr) -> str:
    if isinstance(node, (ast.List, ast.Tuple)):
        return shlex.join(_text(part) for part in node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return "python" if ast.unparse(node) == "sys.executable" else "{}"


def _command(text: str, mark: str) -> Install | None:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    names = [re.sub(r"^.*[/\\]|\.exe$", "", word) for word in words]
    if len(names) > 2 and names[0].startswith(("python", "{sys.executable}", "{}")) and names[1] == "-m":
        words, names = words[2:], names[2:]
    if names[:1] == ["sudo"]:
        words, names = words[1:], names[1:]
    verb = next((i for i, name in enumerate(names[:4]) if name in _VERBS), None)
    if not names or names[0] not in _TOOLS or verb is None or verb == 0:
        return None
    return Install(mark + " ".join(names[: verb + 1]), _packages(words[verb + 1 :]))


def _packages(words: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word in _WITH_VALUE and not skip
            continue
        if "://" in word or word.startswith((".", "/", "~", "\\")) or " @ " in word:
            egg = _EGG.search(word)
            stem = re.split(r"[/\\]", word.split("#")[0].split("?")[0].rstrip("/\\"))[-1]
            found.append(egg[1] if egg else re.sub(r"(\.git)?(@.*)?$", "", stem) or "a local project")
        elif _NAME.match(word):
            found.append(word)
    return tuple(found)
