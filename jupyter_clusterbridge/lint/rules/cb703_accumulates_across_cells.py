"""CB703: a cell that changes what another cell made."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, base_name, is_constant, method, names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence, Severity

_GROWING = {"append", "extend", "insert", "appendleft", "add_module", "setdefault"}
_SHRINKING = {"pop", "popleft", "remove"}
_CONVERSIONS = {"numpy.array", "numpy.asarray", "torch.as_tensor", "pandas.to_datetime", "pandas.to_numeric"}
_SETTLING = {"dropna", "drop_duplicates", "fillna", "ffill", "bfill", "sort_values", "sort_index", "clip"}
"""Methods that find nothing left to do in place the second time."""


class Accumulates(Rule):
    """A cell accumulates onto a name of another cell, so that a second run gives something else.

    ## What it does

    Reports at info level, once for each name and cell: `total += ...`, `total = total + ...`,
    `rows.append(...)`, `table.drop(..., inplace=True)` at the top level of a cell, on a name that another
    cell has bound.

    ## Why it matters on a cluster

    A clean run from top to bottom is fine. A notebook in which the cell ran twice holds another state than
    any job can reach, and its results then cannot be compared with the job's.

    ## Bad example

    ```python
    pixels = 255.0
    # %%
    pixels = pixels / 255.0  # <-- here
    ```

    ## Good example

    ```python
    pixels = 255.0
    # %%
    scaled = pixels / 255.0
    total = 0.0
    total += scaled
    ```

    ## Remedy

    Give the result a new name, or make the cell build the value from the start.
    """

    code = "CB703"
    name = "accumulates-across-cells"
    severity = Severity.INFO
    confidence = Confidence.MEDIUM

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._reported: set[str] = set()

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell reports a name once."""
        self._reported = set()

    def visit_AugAssign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``total += ...``."""
        assert isinstance(node, ast.AugAssign)
        self._consider(base_name(node.target), node, cell)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``total = f(total)``."""
        assert isinstance(node, ast.Assign)
        target = node.targets[0]
        # the cheap question first: most names that a cell binds are its own
        if not isinstance(target, ast.Name) or target.id not in self.notebook.defined or len(node.targets) > 1:
            return
        if target.id in names_in(node.value) and not _idempotent(node.value, target.id, cell):
            self._consider(target.id, node, cell)

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at methods that change their object."""
        assert isinstance(node, ast.Call)
        name = method(node)
        if name is None or not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
            return
        changes = name in _GROWING or (name in _SHRINKING and bool(cell.parents))
        in_place = name not in _SETTLING and is_constant(argument(node, "inplace"), True, cell)
        if changes or in_place:
            self._consider(node.func.value.id, node, cell)

    def _consider(self, name: str | None, node: ast.AST, cell: CellContext) -> None:
        if name is None or len(cell.scopes) != 1 or name in cell.binds or name in self._reported:
            return
        owner = self.notebook.defined.get(name)
        if owner is None or name in self.notebook.aliases:
            return
        message = f"a second run of this cell changes `{name}` of cell {owner} again"
        if self.report(cell, node, message):
            self._reported.add(name)


def _idempotent(value: ast.expr, name: str, cell: CellContext) -> bool:
    """Whether ``name = f(name)`` plainly gives the same again: sorted, a set, ``.to(device)``, ``.eval()``."""
    if isinstance(value, ast.ListComp):
        return _only_picks(value, name)
    if isinstance(value, ast.Subscript):
        # the same columns, or the rows that a condition lets through, are the same a second time
        chosen = value.slice
        columns = isinstance(chosen, ast.List) and all(isinstance(item, ast.Constant) for item in chosen.elts)
        return base_name(value.value) == name and (columns or _is_condition(chosen))
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    if cell.resolve(function) in _CONVERSIONS:
        return True
    if isinstance(function, ast.Name):
        return function.id in ("sorted", "set", "list", "tuple", "dict", "str", "int", "float", "Path")
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == name:
        return function.attr in (
            "to",
            "cuda",
            "cpu",
            "eval",
            "float",
            "double",
            "half",
            "copy",
            "sort_index",
            "astype",
            "strip",
            "lower",
            "upper",
            "resolve",
            "dropna",
            "drop_duplicates",
            "fillna",
            "sort_values",
            "head",
            "clip",
            "abs",
        )
    return False


def _is_condition(node: ast.expr) -> bool:
    """Whether an expression says yes or no for each row: ``df.age > 3``, also joined by ``&``, ``|`` and ``~``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return _is_condition(node.left) and _is_condition(node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_condition(node.operand)
    if isinstance(node, ast.Call):
        return method(node) in ("isin", "notna", "notnull", "isna", "isnull", "between", "duplicated")
    return isinstance(node, ast.Compare)


def _only_picks(value: ast.ListComp, name: str) -> bool:
    """Whether a list keeps some of its own items, which a second run would all keep."""
    item, source = value.elt, value.generators[0]
    if isinstance(item, ast.Subscript):
        return base_name(item) == name
    kept = isinstance(item, ast.Name) and isinstance(source.target, ast.Name) and item.id == source.target.id
    return kept and bool(source.ifs)
