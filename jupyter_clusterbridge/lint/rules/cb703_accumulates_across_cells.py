"""CB703: a cell that changes what another cell made."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, base_name, is_constant, method, names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.model.findings import Confidence, Severity

_GROWING = {"append", "extend", "insert", "appendleft", "add_module"}
_SHRINKING = {"pop", "popleft", "remove"}
_CONVERSIONS = frozenset(
    {"numpy.array", "numpy.asarray", "torch.as_tensor", "pandas.to_datetime", "pandas.to_numeric",
     "pandas.DataFrame", "pandas.Series", "pathlib.Path"}
)  # fmt: skip
_SETTLING = words("dropna drop_duplicates fillna ffill bfill sort_values sort_index clip rename replace")
"""Methods that find nothing left to do in place the second time."""

_SAME = words("sorted set list tuple dict str int float Path")
_ADDING = words("""
    concat concatenate append vstack hstack stack cat expand_dims get_dummies get_peft_model union merge one_hot
    to_categorical insert column_stack pad
""")
"""Functions that add to what they are given, each time."""
_SAME_METHODS = words("""
    to cuda cpu eval float double half copy sort_index astype strip lower upper resolve dropna drop_duplicates
    fillna sort_values head clip abs rename assign filter replace
    view reshape squeeze flatten ravel contiguous detach
""")
"""Methods whose result is the same when they run on it again."""


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
        if node.func.value.id not in self.notebook.defined:
            return
        # `table.append(rows)` with a result that is used makes a new table, as pandas did
        alone = bool(cell.parents) and isinstance(cell.parents[-1], ast.Expr)
        changes = (name in _GROWING and alone) or (name in _SHRINKING and bool(cell.parents))
        in_place = name not in _SETTLING and is_constant(argument(node, "inplace"), True, cell)
        if changes or in_place:
            self._consider(node.func.value.id, node, cell)

    def _consider(self, name: str | None, node: ast.AST, cell: CellContext) -> None:
        if name is None or len(cell.scopes) != 1 or name in cell.binds or name in self._reported:
            return
        owner = self.notebook.defined.get(name)
        if owner is None or name in self.notebook.aliases:
            return
        message = f"a second run of this cell finds `{name}` of cell {owner} changed by the first"
        if self.report(cell, node, message):
            self._reported.add(name)


def _idempotent(value: ast.expr, name: str, cell: CellContext) -> bool:
    """Whether ``name = f(name)`` gives the same again, or may do so for all that the source shows."""
    if isinstance(value, ast.ListComp):
        return _only_picks(value, name)
    if isinstance(value, ast.Call) and method(value) in ("copy", "to_frame") and not value.args:
        assert isinstance(value.func, ast.Attribute)
        value = value.func.value
    if isinstance(value, ast.Subscript):
        return base_name(value.value) == name and _chooses_again(value.slice)
    if not isinstance(value, ast.Call):
        return isinstance(value, (ast.Name, ast.DictComp))
    function = value.func
    # what a function of the notebook does to its argument is not looked into
    if isinstance(function, ast.Name) and (function.id in _SAME or function.id in cell.notebook.functions):
        return True
    if cell.resolve(function) in _CONVERSIONS or _merges_on_all(value, cell):
        return True
    if isinstance(function, ast.Attribute):
        if isinstance(function.value, ast.Name) and function.value.id == name:
            return function.attr in _SAME_METHODS
        if name in names_in(function):
            return False
    # a function that is handed the value may well give the same for what it gave before
    last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return last not in _ADDING


def _merges_on_all(call: ast.Call, cell: CellContext) -> bool:
    """Whether tables are joined on all columns that they share, which a second time are all those of the first."""
    joins = cell.resolve(call.func) == "pandas.merge" or method(call) == "merge"
    keys = ("on", "left_on", "right_on", "left_index", "right_index", "suffixes")
    return joins and all(argument(call, key) is None for key in keys)


def _chooses_again(chosen: ast.expr) -> bool:
    """Whether an index takes the same columns or rows a second time: names, a condition, the first ``n``."""
    if isinstance(chosen, ast.Tuple):
        return all(_chooses_again(part) for part in chosen.elts)
    if isinstance(chosen, ast.Slice):
        return chosen.lower is None and not (isinstance(chosen.upper, ast.UnaryOp))
    if isinstance(chosen, ast.BinOp) and isinstance(chosen.op, ast.Add):
        return _chooses_again(chosen.left) and _chooses_again(chosen.right)
    if isinstance(chosen, ast.List):
        return all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in chosen.elts)
    return isinstance(chosen, ast.ListComp) or _is_condition(chosen)


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
