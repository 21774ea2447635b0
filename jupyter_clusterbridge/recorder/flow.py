"""Control flow in the walk over a cell: what is bound on every path, and what only on some."""

from __future__ import annotations

import abc
import ast
from collections.abc import Iterable

from jupyter_clusterbridge.recorder.calls import root_name
from jupyter_clusterbridge.recorder.parts import PartWalker


class FlowWalker(PartWalker, abc.ABC):
    """The part of the walk that follows branches, loops and patterns; what a name goes through is the walker's."""

    @abc.abstractmethod
    def _bind(self, name: str) -> None: ...

    @abc.abstractmethod
    def _touch(self, name: str | None) -> None: ...

    @abc.abstractmethod
    def _iterate(self, node: ast.AST) -> None: ...

    @abc.abstractmethod
    def _alias(self, target: ast.expr, value: ast.expr) -> None: ...

    def _branches(self, *blocks: Iterable[ast.AST]) -> None:
        start = set(self.bound)
        ends: list[set[str]] = []
        for block in blocks:
            self.bound = set(start)
            last: ast.AST | None = None
            for last in block:
                self.visit(last)
            if not isinstance(last, (ast.Raise, ast.Return, ast.Continue, ast.Break)):
                ends.append(self.bound)
        self.bound = set.intersection(*ends) if ends else start

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branches(node.body, node.orelse)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._touch(root_name(node.iter))
        self._iterate(node.iter)
        self.visit(node.target)
        self._alias(node.target, node.iter)
        self._remember_loop(node)
        for part in (*node.body, *node.orelse):
            self.visit(part)
        self._after_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self.visit_For(node)

    def _try(self, node: ast.Try) -> None:
        self._branches([*node.body, *node.orelse], *([handler] for handler in node.handlers))
        for statement in node.finalbody:
            self.visit(statement)

    visit_Try = visit_TryStar = _try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        outer = self.hidden
        self.hidden = outer | ({node.name} if node.name else set())
        for statement in node.body:
            self.visit(statement)
        self.hidden = outer
        if node.body and isinstance(node.body[-1], (ast.Raise, ast.Return, ast.Continue, ast.Break)):
            self.bound |= self.out.binds  # this path does not come out, so it must not weaken the others

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._branches(*([case] for case in node.cases), [])

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.generic_visit(node)
        if node.name:
            self._bind(node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest:
            self._bind(node.rest)
