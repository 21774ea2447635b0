"""Which rules a notebook gives work to, and which of them a call goes to: looked up, never asked in turn."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

CallHandler = Callable[[ast.Call, CellContext], None]

_ALL_BELOW = ".*"


def check_declaration(rule: type[Rule]) -> None:
    """Hold what a rule declares against what it handles.

    Raises:
        RuntimeError: it names calls and has no ``visit_call``, or the other way round.
    """
    names = bool(rule.calls or rule.methods)
    if names is not (rule.visit_call is not Rule.visit_call):
        raise RuntimeError(f"{rule.code} must have both visit_call and the names of calls for it, or neither")
    for name in rule.calls:
        if "*" in name.removesuffix(_ALL_BELOW):
            raise RuntimeError(f"{rule.code} names calls by {name}; a star may only stand for all below a name")


def with_place(rules: Iterable[type[Rule]], source: str) -> list[type[Rule]]:
    """The rules one of whose words occurs in the source, and those without words."""
    known: dict[str, bool] = {}
    found: list[type[Rule]] = []
    for rule in rules:
        if not rule.words or any(_occurs(word, source, known) for word in rule.words):
            found.append(rule)
    return found


def _occurs(word: str, source: str, known: dict[str, bool]) -> bool:
    occurs = known.get(word)
    if occurs is None:
        occurs = known[word] = word in source
    return occurs


class _Table:
    """The declared calls of a choice of rules; a rule is its place in that choice."""

    def __init__(self, rules: Sequence[type[Rule]]) -> None:
        self.exact: dict[str, list[int]] = {}
        self.below: dict[str, list[int]] = {}
        self.last: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for name in sorted(rule.calls):
                table = self.below if name.endswith(_ALL_BELOW) else self.exact
                table.setdefault(name.removesuffix(_ALL_BELOW), []).append(place)
            for name in sorted(rule.methods):
                self.last.setdefault(name, []).append(place)

    def places(self, callee: str | None, last: str | None) -> list[int]:
        """The rules that a call goes to, in the order of the choice."""
        found = set(self.last.get(last, ())) if last is not None else set()
        if callee is not None:
            found.update(self.exact.get(callee, ()))
            head, dot, _ = callee.rpartition(".")
            while dot:
                found.update(self.below.get(head, ()))
                head, dot, _ = head.rpartition(".")
        return sorted(found)


@functools.lru_cache(maxsize=64)
def _table(rules: tuple[type[Rule], ...]) -> _Table:
    return _Table(rules)


class CallDispatch:
    """Hands the calls of one notebook to the rules that declare them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        takers = [rule for rule in rules if rule.calls or rule.methods]
        self._handlers = [rule.visit_call for rule in takers]
        self._table = _table(tuple(type(rule) for rule in takers))
        self._known: dict[tuple[str | None, str | None], tuple[CallHandler, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._handlers)

    def visit(self, node: ast.AST, cell: CellContext) -> None:
        """Hand over one call; ``cell.callee`` is set."""
        assert isinstance(node, ast.Call)
        function = node.func
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        key = (cell.callee, last)
        handlers = self._known.get(key)
        if handlers is None:
            handlers = self._known[key] = tuple(self._handlers[place] for place in self._table.places(*key))
        for handler in handlers:
            handler(node, cell)
