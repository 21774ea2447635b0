"""Where in a notebook each random stream is first seeded, seen before the rules walk it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.flow import is_dead
from jupyter_clusterbridge.lint.randomness import streams_of_seed
from jupyter_clusterbridge.lint.trees import children

Place = tuple[int, int]
"""Index of a cell, and a line in it."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LATER = (*_FUNCTIONS, ast.ClassDef)
_WORDS = ("seed", "set_rng_state", "setstate", "set_state", "set_determinism")
_USUAL = {"random": "random", "np": "numpy", "numpy": "numpy", "torch": "torch", "tf": "tensorflow"}
"""What names stand for that only a function imports."""


def first_seeds(notebook: NotebookContext) -> dict[str, Place]:
    """The place where a run of all cells first seeds each stream.

    A seed in a function counts where the top level first names that function, and not at all when nothing
    does. A stream that nothing seeds is missing.
    """
    known = notebook.facts.get("first_seeds")
    if known is None:
        known = notebook.facts["first_seeds"] = _find(notebook) if _mentioned(notebook) else {}
    assert isinstance(known, dict)
    return known


def seeded_before(stream: str, node: ast.AST, cell: CellContext) -> bool:
    """Whether the stream is seeded above a node; for one in a function, whether it is seeded at all."""
    place = first_seeds(cell.notebook).get(stream)
    if place is None:
        return False
    return cell.function is not None or place <= (cell.cell.index, getattr(node, "lineno", 1))


def _mentioned(notebook: NotebookContext) -> bool:
    return any(_mentions(cell) for cell in notebook.cells)


def _mentions(cell: CellContext) -> bool:
    return any(word in cell.lowered for word in _WORDS)


def _find(notebook: NotebookContext) -> dict[str, Place]:
    # what seeds nothing and names nothing that seeds need not be looked through
    cells = [cell for cell in notebook.cells if _mentions(cell)]
    helpers = _helpers(cells, notebook)
    while more := [cell for cell in notebook.cells if cell not in cells and _names_one(cell, helpers)]:
        cells += more
        helpers = _helpers(cells, notebook)
    trees = [(cell.cell.index, cell.tree) for cell in cells if cell.tree is not None]
    found: dict[str, Place] = {}
    for index, tree in trees:
        for node in _run_at_top_level(tree):
            streams: tuple[str, ...] = ()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                streams = helpers.get(node.id, ())
            elif isinstance(node, ast.Call) and not _is_helper(node, helpers):
                streams = streams_of_seed(_dotted(node.func, notebook), node)
            for stream in streams:
                place = (index, node.lineno)
                found[stream] = min(found.get(stream, place), place)
    return found


def _is_helper(node: ast.Call, helpers: dict[str, tuple[str, ...]]) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in helpers


def _names_one(cell: CellContext, helpers: dict[str, tuple[str, ...]]) -> bool:
    return any(streams and name in cell.cell.source for name, streams in helpers.items())


def _helpers(cells: list[CellContext], notebook: NotebookContext) -> dict[str, tuple[str, ...]]:
    """The streams that each function or class of the cells seeds when it is used, also through others."""
    own: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    # a node counts for every definition around it
    todo: list[tuple[ast.AST, tuple[str, ...]]] = [(cell.tree, ()) for cell in cells if cell.tree is not None]
    while todo:
        node, within = todo.pop()
        if isinstance(node, ast.Name):
            for name in within:
                names[name].add(node.id)
        elif isinstance(node, ast.Call) and within:
            streams = streams_of_seed(_dotted(node.func, notebook), node)
            for name in within:
                own[name].update(streams)
        if isinstance(node, _LATER):
            own.setdefault(node.name, set())
            names.setdefault(node.name, set())
            todo += [(part, (*within, node.name)) for part in node.body]
        elif is_dead(node):
            todo += [(part, within) for part in getattr(node, "orelse", ())]
        else:
            todo += [(part, within) for part in children(node)]
    changed = True
    while changed:
        changed = False
        for name, named in names.items():
            more = {stream for other in named & own.keys() for stream in own[other]} - own[name]
            own[name] |= more
            changed = changed or bool(more)
    return {name: tuple(sorted(streams)) for name, streams in own.items()}


def _run_at_top_level(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions that run when the cell does; what its functions do comes later."""
    todo: list[ast.AST] = list(reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr):
            yield node
        if isinstance(node, _LATER):
            todo += node.decorator_list
        elif is_dead(node):
            todo += getattr(node, "orelse", ())
        elif not isinstance(node, ast.Lambda) and getattr(node, "arg", None) != "worker_init_fn":
            todo += children(node)


def _dotted(node: ast.AST, notebook: NotebookContext) -> str:
    """The name of a chain of attributes with its head's import resolved; empty for anything else."""
    tail: list[str] = []
    while isinstance(node, ast.Attribute):
        tail.append(node.attr)
        node = node.value
    head = notebook.aliases.get(node.id, _USUAL.get(node.id)) if isinstance(node, ast.Name) else None
    if head is not None:
        return ".".join([head, *reversed(tail)])
    if tail:
        return f"?.{tail[0]}"
    return node.id if isinstance(node, ast.Name) else ""
