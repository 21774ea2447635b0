"""CB302: the order of a set of strings."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import base_name, method, names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_SETS = {"builtins.set", "builtins.frozenset"}
_ORDERING = {
    "builtins.list",
    "builtins.tuple",
    "builtins.enumerate",
    "builtins.zip",
    "numpy.array",
}
_ORDERLESS = {
    "builtins.sorted", "builtins.set", "builtins.frozenset", "builtins.len", "builtins.sum", "builtins.any",
    "builtins.all", "builtins.min", "builtins.max", "collections.Counter",
}  # fmt: skip
_MEMBERSHIP = {"isin", "drop", "difference", "union", "intersection", "issubset", "issuperset", "update", "count"}
_SET_METHODS = {"union", "intersection", "difference", "symmetric_difference"}


class SetOrder(Rule):
    """Something is put in order by iterating over a set.

    ## What it does

    Reports `list(...)`, `tuple(...)`, `enumerate(...)`, list comprehensions and loops that append,
    over a value that is a set, also through a name. Sets of numbers written out in the source are left
    alone, since their order is fixed.

    ## Why it matters on a cluster

    The order of a set of strings depends on the hash seed of the process, another one in each kernel and
    each job. A vocabulary or a list of classes built from it gives other indices each time: the model's
    weights then mean something else.

    ## Bad example

    ```python
    words = "the cat sat on the mat".split()
    vocabulary = {word: index for index, word in enumerate(set(words))}  # <-- here
    classes = list({word.lower() for word in words})  # <-- here
    ```

    ## Good example

    ```python
    words = "the cat sat on the mat".split()
    vocabulary = {word: index for index, word in enumerate(sorted(set(words)))}
    unique = list(dict.fromkeys(words))
    known = set(words)
    count = len(known)
    has_cat = "cat" in known
    numbers = [number for number in {1, 2, 3}]
    ```

    ## Remedy

    Sort the set first: `sorted(set(words))`; to keep the first occurrences in order, use
    `dict.fromkeys(words)`.
    """

    code = "CB302"
    name = "set-order"
    calls = frozenset(_ORDERING | {"builtins.sorted"})
    methods = frozenset({"sort"})
    confidence = Confidence.MEDIUM

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._sets: set[str] = set()
        self._sorted: set[str] = set()
        self._found: list[tuple[ast.AST, CellContext, str | None]] = []

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a set."""
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if self._is_set(node.value, cell):
                    self._sets.add(target.id)
                else:
                    self._sets.discard(target.id)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that put their argument in order."""
        if cell.callee == "builtins.sorted" and node.args and isinstance(node.args[0], ast.Name):
            self._sorted.add(node.args[0].id)
        elif method(node) == "sort":
            self._sorted.add(base_name(node.func) or "")
        if cell.callee in _ORDERING:
            for value in node.args:
                if self._is_set(value, cell):
                    self._note(node, cell)
                    return

    def visit_ListComp(self, node: ast.AST, cell: CellContext) -> None:
        """Look at list comprehensions over a set."""
        assert isinstance(node, ast.ListComp)
        if self._is_set(node.generators[0].iter, cell):
            self._note(node, cell)

    def visit_For(self, node: ast.AST, cell: CellContext) -> None:
        """Look at loops over a set that build something in order."""
        assert isinstance(node, ast.For)
        if self._is_set(node.iter, cell) and _builds_in_order(node.body, names_in(node.target)):
            self._found.append((node, cell, None))

    def end_notebook(self) -> None:
        """Report what is not sorted afterwards."""
        for node, cell, name in self._found:
            if name is None or name not in self._sorted:
                message = "the order of a set, another one in each process, decides the order of the result"
                self.report(cell, node, message)

    def _note(self, node: ast.AST, cell: CellContext) -> None:
        if not _order_is_lost(cell):
            parent = cell.parents[-1] if cell.parents else None
            target = parent.targets[0] if isinstance(parent, ast.Assign) else None
            self._found.append((node, cell, target.id if isinstance(target, ast.Name) else None))

    def _is_set(self, node: ast.expr, cell: CellContext) -> bool:
        if isinstance(node, ast.Set):
            return not all(
                isinstance(item, ast.Constant) and isinstance(item.value, (int, float)) for item in node.elts
            )
        if isinstance(node, ast.SetComp):
            return True
        if isinstance(node, ast.Name):
            return node.id in self._sets
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.Sub, ast.BitXor)):
            return self._is_set(node.left, cell)
        if isinstance(node, ast.Call):
            if cell.resolve(node.func) in _SETS:
                return bool(node.args) and not _numbers(node.args[0], cell)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _SET_METHODS:
                return self._is_set(node.func.value, cell)
        return False


def _numbers(node: ast.expr, cell: CellContext) -> bool:
    return isinstance(node, ast.Call) and cell.resolve(node.func) == "builtins.range"


def _order_is_lost(cell: CellContext) -> bool:
    """Whether the value goes straight into something that does not keep or ask for an order."""
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, ast.Call):
        return cell.resolve(parent.func) in _ORDERLESS or method(parent) in _MEMBERSHIP
    # a text that a person reads, or a question whether something is in it
    return isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr))


def _builds_in_order(body: list[ast.stmt], items: set[str]) -> bool:
    for statement in body:
        for node in descend(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                # what is kept under the item's own key does not depend on the order of the items
                keyed = not items.isdisjoint(names_in(node.func.value))
                if node.func.attr in ("append", "extend", "backward", "write", "writerow") and not keyed:
                    return True
            elif isinstance(node, (ast.Yield, ast.YieldFrom)):
                return True
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                return not isinstance(node.value, ast.Constant)
    return False
