"""CB313: results gathered in the order in which workers finish."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, base_name, is_constant, method
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_FUNCTIONS = {"concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed",
              "distributed.as_completed"}  # fmt: skip
_ORDERING = {"builtins.list", "builtins.tuple", "numpy.array", "numpy.stack", "numpy.concatenate", "pandas.concat",
             "pandas.DataFrame", "torch.stack", "torch.cat"}  # fmt: skip
_PASS_THROUGH = {"builtins.enumerate", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "builtins.iter"}


class CompletionOrder(Rule):
    """A list is filled in the order in which parallel workers finish.

    ## What it does

    Reports `as_completed`, `imap_unordered` and joblib's `generator_unordered` where a list is made of the
    results or a loop appends them, unless the list is sorted later.

    ## Why it matters on a cluster

    Which worker is done first depends on the load of the node. The rows come in another order in each run,
    and so do the splits and batches that are made from them.

    ## Bad example

    ```python
    from concurrent.futures import ThreadPoolExecutor, as_completed

    rows = []
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(len, text) for text in ("a", "bc")]
        for future in as_completed(futures):  # <-- here
            rows.append(future.result())
    ```

    ## Good example

    ```python
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(len, ("a", "bc")))
        futures = {pool.submit(len, text): text for text in ("a", "bc")}
        lengths = {futures[future]: future.result() for future in as_completed(futures)}
    ```

    ## Remedy

    Use `map`, which keeps the order of its input, or sort the results by a key afterwards.
    """

    code = "CB313"
    name = "completion-order"
    confidence = Confidence.MEDIUM
    words = frozenset({"as_completed", "imap_unordered", "generator_unordered"})
    calls = frozenset({*_FUNCTIONS, "builtins.sorted", "joblib.Parallel"})
    methods = frozenset({"imap_unordered", "sort", "sort_values", "sort_index"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.Call, CellContext, str, str | None]] = []
        self._sorted: set[str] = set()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at unordered iterators, and note what is sorted."""
        name = method(node)
        if cell.callee == "builtins.sorted":
            self._sorted.update(inner.id for inner in descend(node) if isinstance(inner, ast.Name))
        elif name in ("sort", "sort_values", "sort_index"):
            self._sorted.add(base_name(node.func) or "")
        elif name == "imap_unordered" or cell.callee in _FUNCTIONS:
            self._consider(node, cell, name or (cell.callee or "").rpartition(".")[2])
        elif is_constant(argument(node, "return_as"), "generator_unordered", cell):
            self._consider(node, cell, "generator_unordered")

    def _consider(self, node: ast.Call, cell: CellContext, shown: str) -> None:
        used, target = _use(node, cell)
        if used:
            self._found.append((node, cell, shown, target))

    def end_notebook(self) -> None:
        """Report the lists that are never sorted."""
        for node, cell, name, target in self._found:
            if target is None or target not in self._sorted:
                self.report(cell, node, f"`{name}` gives results in the order in which workers finish")


def _use(node: ast.Call, cell: CellContext) -> tuple[bool, str | None]:
    """Whether the results go into something that keeps their order, and the name of that."""
    inner: ast.AST = node
    for parent in reversed(cell.parents):
        if isinstance(parent, ast.Call) and parent.func is not inner:
            called = cell.resolve(parent.func)
            if called in _ORDERING:
                return True, _bound(cell)
            if called not in _PASS_THROUGH:
                return False, None
        elif isinstance(parent, (ast.For, ast.AsyncFor)) and inner is parent.iter:
            return _appends(parent)
        elif isinstance(parent, ast.comprehension):
            pass
        elif isinstance(parent, ast.ListComp):
            return True, _bound(cell)
        elif not isinstance(parent, (ast.Starred, ast.Call)):
            return False, None
        inner = parent
    return False, None


def _bound(cell: CellContext) -> str | None:
    statement = next(cell.within(ast.Assign), None)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else None


def _appends(loop: ast.For | ast.AsyncFor) -> tuple[bool, str | None]:
    for statement in loop.body:
        for node in descend(statement):
            if isinstance(node, ast.Call) and method(node) in ("append", "extend"):
                value = node.args[0] if node.args else None
                # what keeps its index or key beside it can be put in order by whoever uses it
                if isinstance(value, (ast.Tuple, ast.Dict)):
                    return False, None
                return True, base_name(node.func)
    return False, None
