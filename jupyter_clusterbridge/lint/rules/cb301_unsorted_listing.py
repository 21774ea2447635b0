"""CB301: files in the order in which the file system gives them."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import method
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.fixes import wrap
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.trees import descend
from jupyter_clusterbridge.model.findings import Confidence

_FUNCTIONS = {"os.listdir", "os.scandir", "os.walk", "os.fwalk", "glob.glob", "glob.iglob",
              "tensorflow.io.gfile.listdir",
              "tensorflow.io.gfile.walk"}  # fmt: skip
_FILE_SYSTEMS = {"fsspec.filesystem", "fsspec.implementations.local.LocalFileSystem"}
_METHODS = {"iterdir", "rglob"}
_LISTS = {"os.listdir", "glob.glob", "tensorflow.io.gfile.listdir"}
"""Functions that give a list of names, which stays a list when it is sorted."""
_ORDERLESS = {
    "builtins.sorted",
    "builtins.set",
    "builtins.frozenset",
    "builtins.len",
    "builtins.any",
    "builtins.all",
    "builtins.sum",
    "builtins.max",
    "builtins.min",
    "natsort.natsorted",
    "builtins.print",
    "IPython.display.display",
    "builtins.display",
    "collections.Counter",
}
_PASS_THROUGH = {"builtins.list", "builtins.tuple", "builtins.iter", "builtins.map", "builtins.filter"}
_PATH_CLASSES = {
    "pathlib.Path",
    "pathlib.PosixPath",
}
_CONTENTS_ALIKE = {
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.rename",
    "shutil.rmtree",
    "shutil.copy",
    "shutil.copy2",
    "shutil.move",
    "shutil.copyfile",
    "shutil.copytree",
    "builtins.print",
}
_ALIKE_METHODS = {"unlink", "rmdir", "touch"}


class UnsortedListing(Rule):
    """A folder's files are used in the order in which the file system lists them.

    ## What it does

    Reports `os.listdir`, `os.scandir`, `os.walk`, `glob.glob` and the like, the methods `glob`, `rglob` and
    `iterdir` of paths, and `ls` of an fsspec file system, unless the result goes into `sorted`, a set, `len`
    or another use in which order plays no part, is sorted later, or the loop over it only deletes, copies or
    prints. Listings of S3 buckets come in the order of their keys and are left alone.

    ## Why it matters on a cluster

    The order of a listing is a property of the file system, not of the files. On the cluster's shared
    storage, or in another image layer, the same files come in another order: other batches, other splits,
    other labels where class numbers follow the listing.

    ## Bad example

    ```python
    import os
    from pathlib import Path

    names = os.listdir("images")  # <-- here
    pixels = [path.read_bytes() for path in Path("images").glob("*.png")]  # <-- here
    ```

    ## Good example

    ```python
    import os
    from pathlib import Path

    names = sorted(os.listdir("images"))
    pixels = [path.read_bytes() for path in sorted(Path("images").glob("*.png"))]
    count = len(os.listdir("images"))
    later = os.listdir("images")
    later.sort()
    ```

    ## Remedy

    Wrap the listing in `sorted(...)`.
    """

    code = "CB301"
    name = "unsorted-listing"
    words = frozenset({"listdir", "scandir", "walk(", "glob", "iterdir", "fsspec"})
    calls = frozenset(_FUNCTIONS | _ORDERLESS)
    methods = frozenset(_METHODS | {"glob", "sort", "ls"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._found: list[tuple[ast.Call, CellContext, str, str | None, bool, bool]] = []
        self._sorted: set[str] = set()
        self._file_systems = Origins(lambda name: name in _FILE_SYSTEMS)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold a file system."""
        assert isinstance(node, ast.Assign)
        self._file_systems.note(node, cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather listings, and names that are sorted."""
        called = cell.callee
        if called in _ORDERLESS and node.args:
            self._sorted.update(_names_passed(node.args[0]))
        name = method(node)
        if name == "sort" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            self._sorted.add(node.func.value.id)
        if called in _FUNCTIONS:
            self._consider(node, cell, called, sure=True)
        elif name == "ls":
            if isinstance(node.func, ast.Attribute) and self._file_systems.holds(node.func.value, cell):
                self._consider(node, cell, "fsspec's `ls`", sure=False)
        elif name in _METHODS or (name == "glob" and called != "glob.glob"):
            self._consider(node, cell, f".{name}", sure=name != "glob" or _is_path(node, cell))

    def end_notebook(self) -> None:
        """Report the listings whose name is never sorted."""
        for node, cell, called, target, sure, fixable in self._found:
            if target is None or target not in self._sorted:
                confidence = Confidence.HIGH if sure else Confidence.MEDIUM
                shown = called if "`" in called else f"`{called}`"
                message = f"{shown} gives files in the file system's order"
                fix = wrap(node, "sorted(", ")", cell, "Sort the listing") if fixable else None
                self.report(cell, node, message, confidence=confidence, fix=fix)

    def _consider(self, node: ast.Call, cell: CellContext, called: str, *, sure: bool) -> None:
        if "pathlib" not in self.notebook.source and called.startswith("."):
            return
        used, target = _use(node, cell)
        if used and not (called == "os.walk" and _sorts_in_place(cell)):
            ours = cell.resolve(ast.Name("sorted")) == "builtins.sorted"
            fixable = ours and (called in _LISTS or (sure and called.startswith(".") and _used_up(node, cell)))
            self._found.append((node, cell, called, target, sure, fixable))


def _used_up(node: ast.Call, cell: CellContext) -> bool:
    """Whether the paths are gone over right there, so that a list does as well as an iterator."""
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    return isinstance(parent, ast.Call) and cell.resolve(parent.func) in ("builtins.list", "builtins.tuple")


def _names_passed(node: ast.expr) -> set[str]:
    """Names whose value an ordering function gets, also through a comprehension over them."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        node = node.generators[0].iter
    return {node.id} if isinstance(node, ast.Name) else set()


def _use(node: ast.Call, cell: CellContext) -> tuple[bool, str | None]:
    """Whether the order of the listing can matter, and the name it is bound to."""
    inner: ast.AST = node
    for parent in reversed(cell.parents):
        if isinstance(parent, ast.Call):
            called = cell.resolve(parent.func)
            if called in _ORDERLESS:
                return False, None
            if called not in _PASS_THROUGH:
                return True, None
        elif isinstance(parent, (ast.SetComp, ast.Set)):
            return False, None
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            return not (inner is parent.iter and _orderless_body(parent.body, cell)), None
        elif isinstance(parent, ast.Compare):
            return False, None
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return True, targets[0].id if isinstance(targets[0], ast.Name) else None
        elif isinstance(parent, ast.Expr):
            return False, None
        elif isinstance(parent, ast.stmt) and not isinstance(parent, ast.Return):
            return not isinstance(parent, (ast.If, ast.While, ast.Assert)), None
        inner = parent
    # a bare expression at the end of a cell only shows the listing
    return False, None


def _orderless_body(body: list[ast.stmt], cell: CellContext) -> bool:
    """Whether every statement of a loop only deletes, copies or prints."""
    for statement in body:
        if isinstance(statement, ast.If) and not statement.orelse:
            if not _orderless_body(statement.body, cell):
                return False
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)) or (
            cell.resolve(statement.value.func) not in _CONTENTS_ALIKE
            and method(statement.value) not in (_ALIKE_METHODS)
        ):
            return False
    return True


def _is_path(node: ast.Call, cell: CellContext) -> bool:
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(receiver, ast.Call) and cell.resolve(receiver.func) in _PATH_CLASSES


def _sorts_in_place(cell: CellContext) -> bool:
    """``os.walk`` has an order once its loop sorts the lists that it gives."""
    loop = next(cell.within(ast.For, ast.AsyncFor), None)
    if loop is None:
        return False
    calls = [inner for inner in descend(loop) if isinstance(inner, ast.Call)]
    return any(method(call) == "sort" or cell.resolve(call.func) == "builtins.sorted" for call in calls)
