"""What of a notebook a run of its cells reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.lint.scope import Scope
from jupyter_clusterbridge.lint.trees import children, descend

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_YIELDS = (ast.Yield, ast.YieldFrom)
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


class Deferred:
    """What the notebook's functions do, for a rule that wants it where the top level calls them.

    A walk meets the body of a function before any call of it. Only plain functions count that are called by their
    name: when a method, a generator or a callback runs cannot be seen.
    """

    def __init__(self) -> None:
        self._effects: dict[str, list[tuple[str, ast.Call]]] = {}
        self._calls: dict[str, set[str]] = {}
        self._plain: dict[ast.FunctionDef, bool] = {}

    def note(self, node: ast.Call, scopes: Sequence[Scope], effect: str | None) -> None:
        """Note a call within a function, with what it does if the rule cares."""
        function = scopes[1].node if len(scopes) > 1 else None
        if not isinstance(function, ast.FunctionDef) or any(scope.deferred for scope in scopes[2:]):
            return
        if function not in self._plain:
            self._plain[function] = not any(isinstance(inner, _YIELDS) for inner in descend(function.body))
        if not self._plain[function]:
            return
        if effect is not None:
            self._effects.setdefault(function.name, []).append((effect, node))
        if isinstance(node.func, ast.Name):
            self._calls.setdefault(function.name, set()).add(node.func.id)

    def of_call(self, node: ast.Call) -> list[tuple[str, ast.Call]]:
        """What a call of a function by its name does, also through others that it calls."""
        todo = [node.func.id] if isinstance(node.func, ast.Name) else []
        seen: set[str] = set()
        found: list[tuple[str, ast.Call]] = []
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                found += self._effects.get(name, ())
                todo += sorted(self._calls.get(name, ()))
        return found
