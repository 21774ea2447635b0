"""What of a notebook a run of its cells reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.lint.trees import children

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ELSEWHERE = ("worker_init_fn",)
"""Arguments whose value is called in another process."""


def called_functions(trees: Sequence[ast.Module]) -> frozenset[str]:
    """Names of the notebook's functions and classes that its top level calls, also through others.

    A function that is handed on as a value counts as called, since whoever takes it calls it: ``frame.apply(f)``.
    Only ``worker_init_fn`` is left out, which runs in another process. All methods of a class that is used count.

    >>> sorted(called_functions([ast.parse("def f(): g()\\ndef g(): pass\\ndef h(): pass\\nf()")]))
    ['f', 'g']
    """
    uses: dict[str, set[str]] = {}
    reached: set[str] = set()
    for tree in trees:
        for statement in tree.body:
            reached |= _used(statement, uses)
    todo = [name for name in reached if name in uses]
    called = set(todo)
    while todo:
        further = {name for name in uses[todo.pop()] if name in uses} - called
        called |= further
        todo += further
    return frozenset(called)


def _used(root: ast.AST, uses: dict[str, set[str]]) -> set[str]:
    """Names that a statement reads when it runs; what its definitions read goes to ``uses`` under their names."""
    names: set[str] = set()
    todo: list[ast.AST] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, _DEFINITIONS):
            uses.setdefault(node.name, set()).update(*(_used(inner, uses) for inner in _run_by_a_call(node)))
            todo += _run_by_definition(node)
        elif is_dead(node):
            todo += getattr(node, "orelse", [])
        else:
            todo += [child for child in children(node) if not _called_elsewhere(child)]
    return names


def _run_by_a_call(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """What runs when the function is called, or when the class and then any of its methods are."""
    for inner in node.body:
        if isinstance(node, ast.ClassDef) and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from inner.body
        elif not isinstance(node, ast.ClassDef):
            yield inner


def _run_by_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """What a definition evaluates where it stands."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *node.keywords, *node.body)
    else:
        yield from (default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None)


def _called_elsewhere(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg in _ELSEWHERE


def is_dead(node: ast.AST) -> bool:
    """Whether the body of a statement never runs: ``if False:``, ``if 0:``, ``while False:``."""
    return isinstance(node, (ast.If, ast.While)) and isinstance(node.test, ast.Constant) and not node.test.value
