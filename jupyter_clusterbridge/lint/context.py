"""What rules see: the notebook, its cells, and where the walk stands."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jupyter_clusterbridge.lint.comments import LINE_FORM, IgnoreComment, ignore_comments
from jupyter_clusterbridge.lint.flow import called_functions
from jupyter_clusterbridge.lint.scope import KNOWN_NAMES, FunctionNames, NameRead, Scope, import_aliases
from jupyter_clusterbridge.model.notebook import Cell, Notebook
from jupyter_clusterbridge.runtime.source import Magic, ParsedCell, parse_once

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class CellContext:
    """One code cell, its tree, and the place of the walk in it."""

    def __init__(self, notebook: NotebookContext, cell: Cell) -> None:
        self.notebook = notebook
        self.cell = cell
        self.parsed: ParsedCell = parse_once(cell.source)
        self.parents: list[ast.AST] = []
        """The nodes around the one that is visited, outermost first."""
        self.scopes: list[Scope] = []
        """The scopes around the node that is visited; the first is the cell's module."""
        self.callee: str | None = None
        """While a call is visited: the qualified name of what it calls, where that is known."""
        self.has_try = "try" in cell.source
        self.lowered = cell.source.lower()
        """The source in lower case, for a quick look whether a word occurs at all."""
        self.binds: dict[str, int] = {}
        """Names that the cell has bound so far at its top level, with the line."""
        self.unbound: list[NameRead] = []
        """Reads of names that nothing before has bound."""

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None where the cell is not Python."""
        return self.parsed.tree

    @property
    def magics(self) -> tuple[Magic, ...]:
        """The cell's magics and shell escapes."""
        return self.parsed.magics

    @functools.cached_property
    def comments(self) -> tuple[IgnoreComment, ...]:
        """The comments that silence rules."""
        return ignore_comments(self.cell.source, self.parsed)

    def silences(self, code: str, first: int, last: int) -> bool:
        """Whether a comment on one of these lines, or one for the whole file, silences a rule."""
        if any(code.startswith(beginning) for beginning in self.notebook.ignored):
            return True
        return any(
            first <= comment.line <= last and comment.form == LINE_FORM and code.startswith(comment.codes)
            for comment in self.comments
        )

    def resolve(self, node: ast.AST) -> str | None:
        """The qualified name of a name or a chain of attributes, as far as imports tell.

        ``np.random.rand`` gives ``numpy.random.rand``; a builtin gives ``builtins.open``; a name that the
        notebook itself binds gives None.
        """
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        head = self._resolve_name(node.id)
        if head is None or not tail:
            return head
        return f"{head}.{'.'.join(reversed(tail))}"

    def _resolve_name(self, name: str) -> str | None:
        for scope in reversed(self.scopes[1:]):
            if name in scope.aliases:
                return scope.aliases[name]
            if name in scope.binds:
                return None
        notebook = self.notebook
        alias = notebook.aliases.get(name)
        if alias is not None:
            return alias
        if name in KNOWN_NAMES and name not in self.binds and name not in notebook.defined:
            return f"builtins.{name}"
        return None

    @property
    def function(self) -> ast.AST | None:
        """The innermost function or lambda around the visited node."""
        return next((scope.node for scope in reversed(self.scopes) if scope.deferred), None)

    def within(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The parents of the given kinds, innermost first."""
        return (node for node in reversed(self.parents) if isinstance(node, kinds))

    def in_loop(self) -> bool:
        """Whether the visited node stands in a loop of the same function."""
        for node in reversed(self.parents):
            if isinstance(node, _LOOPS):
                return True
            if isinstance(node, _FUNCTIONS):
                return False
        return False


@dataclass
class NotebookContext:
    """What is known of a notebook while its cells are walked in file order."""

    notebook: Notebook
    cells: list[CellContext] = field(default_factory=list)
    """The code cells in file order."""
    aliases: dict[str, str] = field(default_factory=dict)
    """What the notebook's imported names stand for."""
    defined: dict[str, int] = field(default_factory=dict)
    """Names bound by the cells before the one that is walked, with the index of the last such cell."""
    functions: dict[str, FunctionNames] = field(default_factory=dict)
    """What the functions that stand at the top level of a cell need from the outside."""
    constants: dict[str, object] = field(default_factory=dict)
    """Constant that a name was last bound to at top level."""
    facts: dict[str, object] = field(default_factory=dict)
    """What rules have found out about the whole notebook and share, by name."""
    opaque_from: int | None = None
    """Index of the first cell after which names may exist that no source shows (``%run``, ``import *``)."""

    @classmethod
    def of(cls, notebook: Notebook) -> NotebookContext:
        """Parse the cells and collect the imports of their top levels."""
        context = cls(notebook)
        context.cells = [CellContext(context, cell) for cell in notebook.code_cells]
        for cell in context.cells:
            for statement in cell.tree.body if cell.tree is not None else ():
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    for name, target in import_aliases(statement).items():
                        context.aliases.setdefault(name, target)
        return context

    @functools.cached_property
    def source(self) -> str:
        """The sources of all code cells in one text, for a quick look whether a word occurs at all."""
        return "\n".join(cell.cell.source for cell in self.cells)

    @functools.cached_property
    def ignored(self) -> frozenset[str]:
        """Codes that comments silence for the whole file, or beginnings of codes."""
        comments = (comment for cell in self.cells for comment in cell.comments if comment.for_file)
        return frozenset(code for comment in comments for code in comment.codes)

    @functools.cached_property
    def called_functions(self) -> frozenset[str]:
        """Functions and classes of the notebook that a run of all cells calls, also through others."""
        return called_functions([cell.tree for cell in self.cells if cell.tree is not None])

    @functools.cached_property
    def uses_cuda(self) -> bool:
        """Whether the notebook moves anything to a CUDA device or leaves that to a trainer."""
        text = self.source
        return "cuda" in text or "Accelerator(" in text or "Trainer(" in text

    def defined_after(self, name: str, index: int) -> int | None:
        """Index of the first cell after ``index`` that binds the name; complete only once all are walked."""
        return next((c.cell.index for c in self.cells if c.cell.index > index and name in c.binds), None)

    @property
    def last_code_index(self) -> int:
        """Index of the last code cell that holds anything."""
        filled = [cell.cell.index for cell in self.cells if cell.cell.source.strip()]
        return filled[-1] if filled else -1


@functools.cache
def installed_torch() -> tuple[int, int] | None:
    """Major and minor version of the torch installed beside us, without importing it."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return None
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else None
