"""CB711: a name that only one branch binds."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import children
from jupyter_clusterbridge.model.findings import Confidence, Severity

_DECIDES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Delete)
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ASKS_FOR_NAMES = ("globals", "locals", "dir(", "vars(", "version", "__name__", "hasattr")


class ConditionalName(Rule):
    """A cell binds a name under a condition, and a later cell reads it without one.

    ## What it does

    Follows names that only one side of an `if` at the top level of a cell binds, where no other cell does;
    chains with `elif` are left alone. It reports the first read in a later cell that no condition guards: as
    a warning where the condition is a name that stands for a constant which says no, otherwise as
    information.

    ## Why it matters on a cluster

    The notebook's kernel remembers the name from a run in which the condition held. On the node the
    condition may not hold, and the cell ends with a `NameError`.

    ## Bad example

    ```python
    retrain = False
    if retrain:
        model = "a new one"
    # %%
    print(model)  # <-- here
    ```

    ## Good example

    ```python
    retrain = False
    if retrain:
        model = "a new one"
    else:
        model = "the one on disk"
    # %%
    print(model)
    ```

    ## Remedy

    Bind the name in every branch, or put the reading cell under the same condition.
    """

    code = "CB711"
    name = "conditional-name"
    severity = Severity.WARNING
    confidence = Confidence.MEDIUM
    words = frozenset({"if "})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._open: dict[str, tuple[ast.expr, int, bool]] = {}

    def visit_Name(self, node: ast.AST, cell: CellContext) -> None:
        """Look at reads."""
        assert isinstance(node, ast.Name)
        if node.id not in self._open or not isinstance(node.ctx, ast.Load):
            return
        if node.id in cell.binds or len(cell.scopes) > 1 or next(cell.within(*_DECIDES), None) is not None:
            return
        test, index, refused = self._open.pop(node.id)
        severity = Severity.WARNING if refused else Severity.INFO
        message = f"cell {index} binds `{node.id}` only where `{ast.unparse(test)[:50]}`"
        self.report(cell, node, message, severity=severity)

    def end_cell(self, cell: CellContext) -> None:
        """Note what the cell binds under a condition."""
        if cell.tree is None:
            self._open.clear()
            return
        if self.notebook.opaque_from is not None:
            self._open.clear()
            return
        conditions = [statement for statement in cell.tree.body if isinstance(statement, ast.If)]
        found = self._found(conditions, cell) if conditions else {}
        for name in list(self._open):
            if name in cell.binds and name not in found:
                del self._open[name]
        for name, place in found.items():
            if name not in self.notebook.defined:
                self._open[name] = place

    def _found(self, conditions: list[ast.If], cell: CellContext) -> dict[str, tuple[ast.expr, int, bool]]:
        """What the cell binds on one side of an ``if`` alone."""
        assert cell.tree is not None
        certain: set[str] = set()
        found: dict[str, tuple[ast.expr, int, bool]] = {}
        seen: set[str] = set()
        for statement in conditions:
            body, orelse = _bound(statement.body), _bound(statement.orelse)
            # what two conditions bind may well be bound by one of them in each case
            certain |= seen & (body | orelse)
            seen |= body | orelse
            certain |= (body & orelse) | (orelse if _ends(statement.body) else set())
            certain |= body if _ends(statement.orelse) else set()
            if not _leaves_alone(statement):
                place = (
                    statement.test,
                    cell.cell.index,
                    self._refused(statement.test) and not _asks(statement.test, seen),
                )
                found |= dict.fromkeys(body - orelse, place)
        if found:
            certain |= _bound([statement for statement in cell.tree.body if not isinstance(statement, ast.If)])
        return {name: place for name, place in found.items() if name not in certain}

    def _refused(self, test: ast.expr) -> bool:
        negative = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        asked = test.operand if isinstance(test, ast.UnaryOp) and negative else test
        if not isinstance(asked, ast.Name) or asked.id not in self.notebook.constants:
            return False
        return bool(self.notebook.constants[asked.id]) == negative


def _leaves_alone(statement: ast.If) -> bool:
    """Whether the condition asks for what is there (``"x" not in globals()``), or stands in a chain of many."""
    if isinstance(statement.test, ast.Constant) or any(isinstance(part, ast.If) for part in statement.orelse):
        return True
    text = ast.unparse(statement.test)
    return any(word in text for word in _ASKS_FOR_NAMES)


def _asks(test: ast.expr, names: set[str]) -> bool:
    """Whether a condition is about one of some names, which a condition above may have set."""
    return not names.isdisjoint(names_in(test))


def _ends(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Raise, ast.Return, ast.Assert))


def _bound(body: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(name.asname or name.name).split(".")[0] for name in node.names}
        elif isinstance(node, _LATER):
            found.add(getattr(node, "name", ""))
        else:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            todo += children(node)
    return found
