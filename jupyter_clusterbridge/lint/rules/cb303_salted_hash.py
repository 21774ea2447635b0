"""CB303: buckets from the builtin ``hash``."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence


class SaltedHash(Rule):
    """The builtin `hash` decides a bucket, a split or a key.

    ## What it does

    Reports calls of the builtin `hash`, unless they stand in a `__hash__` method, only compare two hashes,
    only show one, or get a number.

    ## Why it matters on a cluster

    Python salts the hash of strings and bytes with a random seed in each process. A split by `hash(user_id)
    % 10` is another split in the job, and in each loader worker that is started afresh.

    ## Bad example

    ```python
    users = ["anna", "ben", "cleo"]
    train = [user for user in users if hash(user) % 10 < 8]  # <-- here
    ```

    ## Good example

    ```python
    import zlib

    users = ["anna", "ben", "cleo"]
    train = [user for user in users if zlib.crc32(user.encode()) % 10 < 8]


    class Point:
        def __hash__(self):
            return hash((self.x, self.y))
    ```

    ## Remedy

    Use a hash that is the same everywhere, such as `zlib.crc32(text.encode())` or `hashlib.sha256`.
    """

    code = "CB303"
    name = "salted-hash"
    words = frozenset({"hash("})
    calls = frozenset({"builtins.hash"})
    confidence = Confidence.MEDIUM

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls of the builtin."""
        if not node.args:
            return
        value = node.args[0]
        if isinstance(value, ast.Name) and _counts(value.id, cell):
            return
        if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
            return
        if getattr(cell.function, "name", None) == "__hash__" or _only_looked_at(cell):
            return
        self.report(cell, node, "`hash` of a string is another number in each process")


def _counts(name: str, cell: CellContext) -> bool:
    """Whether a loop or a comprehension around binds the name to numbers of a ``range``."""
    loops: list[tuple[ast.expr, ast.expr]] = []
    for node in cell.parents:
        if isinstance(node, ast.For):
            loops.append((node.target, node.iter))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            loops += [(generator.target, generator.iter) for generator in node.generators]
    return any(
        isinstance(target, ast.Name) and target.id == name and isinstance(source, ast.Call)
        and cell.resolve(source.func) == "builtins.range"
        for target, source in loops
    )  # fmt: skip


def _only_looked_at(cell: CellContext) -> bool:
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Eq, ast.NotEq)) for op in parent.ops)
    if isinstance(parent, ast.Call):
        return cell.resolve(parent.func) == "builtins.print"
    return parent is None or isinstance(parent, ast.Expr)
