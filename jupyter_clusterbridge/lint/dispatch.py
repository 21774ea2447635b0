"""Which rules a notebook gives work to, and which of them a call goes to: looked up, never asked in turn."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Mapping

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

CallHandler = Callable[[ast.Call, CellContext], None]

_ALL_BELOW = ".*"
_WORD = re.compile(r"\w+")


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


class Plan:
    """What a choice of rules asks for, made ready to be looked up; a rule is its place in that choice."""

    def __init__(self, rules: tuple[type[Rule], ...]) -> None:
        self.rules = rules
        self.visits = [_visits(rule) for rule in rules]
        """For each rule the types of nodes that it visits, with the name of its method for each."""
        self.places = functools.lru_cache(maxsize=4096)(self._places)
        self._always = frozenset(place for place, rule in enumerate(rules) if not rule.words)
        words = _by_name((word, place) for place, rule in enumerate(rules) for word in rule.words)
        # a word that many rules ask for goes first, since it may spare the look for others
        order = sorted(words, key=lambda word: (-len(words[word]), word))
        self._words = [(word, word.isidentifier(), words[word]) for word in order]
        self._calls = _by_name((name, place) for place, rule in enumerate(rules) for name in rule.calls)
        self._methods = _by_name((name, place) for place, rule in enumerate(rules) for name in rule.methods)

    def with_place(self, source: str) -> list[int]:
        """The rules one of whose words occurs in the source, and those without words."""
        found = set(self._always)
        # each word of the source once: a text of a third of the length to search in
        vocabulary = "\n".join(dict.fromkeys(_WORD.findall(source)))
        for word, is_name, places in self._words:
            if not places <= found and word in (vocabulary if is_name else source):
                found |= places
        return sorted(found)

    def _places(self, callee: str | None, last: str | None) -> tuple[int, ...]:
        """The rules that a call goes to."""
        found = set(self._methods.get(last, ())) if last is not None else set()
        if callee is not None:
            found |= self._calls.get(callee, frozenset())
            head, dot, _ = callee.rpartition(".")
            while dot:
                found |= self._calls.get(head + _ALL_BELOW, frozenset())
                head, dot, _ = head.rpartition(".")
        return tuple(sorted(found))


def _by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for name, place in pairs:
        found.setdefault(name, set()).add(place)
    return {name: frozenset(places) for name, places in found.items()}


def _visits(rule: type[Rule]) -> tuple[tuple[type[ast.AST], str], ...]:
    names = [name for name in dir(rule) if name.startswith("visit_") and hasattr(ast, name[6:])]
    return tuple((getattr(ast, name[6:]), name) for name in names)


@functools.lru_cache(maxsize=64)
def plan_for(rules: tuple[type[Rule], ...]) -> Plan:
    """The plan of a choice of rules, made once."""
    return Plan(rules)


class CallDispatch:
    """Hands the calls of one notebook to those of its rules that declare them."""

    def __init__(self, plan: Plan, rules: Mapping[int, Rule]) -> None:
        self._places = plan.places
        self._handlers = {place: rule.visit_call for place, rule in rules.items() if rule.calls or rule.methods}
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
            known = self._handlers
            handlers = self._known[key] = tuple(known[place] for place in self._places(*key) if place in known)
        for handler in handlers:
            handler(node, cell)
