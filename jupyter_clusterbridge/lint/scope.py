"""What a cell binds and reads, and what its imported names stand for."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass, field

_NEWER_BUILTINS = {
    "BaseExceptionGroup",
    "EncodingWarning",
    "ExceptionGroup",
    "PythonFinalizationError",
    "aiter",
    "anext",
}
_KERNEL_NAMES = {
    "In",
    "Out",
    "__annotations__",
    "__class__",
    "__module__",
    "__qualname__",
    "__vsc_ipynb_file__",
    "display",
    "exit",
    "get_ipython",
    "quit",
}
KNOWN_NAMES = frozenset({*dir(builtins), *_NEWER_BUILTINS, *_KERNEL_NAMES})
"""Names that every IPython kernel has, on any Python that we support."""

_HISTORY_NAME = re.compile(r"_+\d*|_i+\d*|_oh|_dh|_ih|_exit_code|_sh")


def always_known(name: str) -> bool:
    """Whether a kernel knows the name before any cell has run.

    >>> always_known("print"), always_known("_12"), always_known("model")
    (True, True, False)
    """
    return name in KNOWN_NAMES or _HISTORY_NAME.fullmatch(name) is not None


@dataclass
class Scope:
    """One scope of the walk: the module of a cell, a function, a class or a comprehension."""

    node: ast.AST
    deferred: bool = False
    """Whether its body runs later than where it stands (functions and lambdas)."""
    binds: set[str] = field(default_factory=set)
    reads: dict[str, int] = field(default_factory=dict)
    """Line of the first read of each name that the scope reads."""
    nested: dict[str, int] = field(default_factory=dict)
    """The same for names that only functions within the scope read, when they run."""
    calls: set[str] = field(default_factory=set)
    """Names that the scope itself calls."""
    outer: set[str] = field(default_factory=set)
    """Names declared ``global`` or ``nonlocal``."""
    aliases: dict[str, str] = field(default_factory=dict)
    """What the names imported here stand for."""


@dataclass(frozen=True)
class FunctionNames:
    """What a call of a function of the notebook needs from the outside."""

    reads: frozenset[str]
    """Names that its own body reads."""
    calls: frozenset[str]
    """Those of them that it calls."""


@dataclass(frozen=True)
class NameRead:
    """A read of a name that no cell before, and nothing before in the cell, has bound."""

    name: str
    line: int
    via: str | None = None
    """The function whose call reads it, where the cell does not read it itself."""
    deferred: bool = False
    """Whether the read stands in a function body, so that it happens only when that runs."""


def import_aliases(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import statement binds and what they stand for; relative imports begin with a dot.

    >>> import_aliases(ast.parse("from torch import nn as layers").body[0])
    {'layers': 'torch.nn'}
    """
    if isinstance(node, ast.Import):
        return {
            (name.asname or name.name.split(".")[0]): (name.name if name.asname else name.name.split(".")[0])
            for name in node.names
        }
    module = "." * node.level + (node.module or "")
    return {name.asname or name.name: f"{module}.{name.name}" for name in node.names if name.name != "*"}


def words(text: str) -> frozenset[str]:
    """The words of a long list that reads better as text.

    >>> sorted(words("b a"))
    ['a', 'b']
    """
    return frozenset(text.split())
