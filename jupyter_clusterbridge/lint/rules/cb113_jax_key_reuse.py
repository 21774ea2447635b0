"""CB113: one JAX key for two draws."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_NO_DRAW = frozenset(
    {"PRNGKey", "key", "fold_in", "key_data", "wrap_key_data", "clone", "key_impl", "default_prng_impl"}
)
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.Match)


class JaxKeyReuse(Rule):
    """The same JAX random key is used for two draws.

    ## What it does

    Reports the second draw of `jax.random` that takes a key which a draw or a `split` before it in the same
    cell or function has used up, with no new value in between. Draws in branches are left alone.

    ## Why it matters on a cluster

    Two draws from one key give the same numbers: noise that should be independent is equal, or a layer's
    weights are the data's. The results can be repeated and are wrong in every run.

    ## Bad example

    ```python
    import jax

    key = jax.random.key(0)
    weights = jax.random.normal(key, (4,))
    noise = jax.random.normal(key, (4,))  # <-- here
    ```

    ## Good example

    ```python
    import jax

    key = jax.random.key(0)
    key, of_weights, of_noise = jax.random.split(key, 3)
    weights = jax.random.normal(of_weights, (4,))
    noise = jax.random.normal(of_noise, (4,))
    ```

    ## Remedy

    Split the key before each draw: `key, sub = jax.random.split(key)`.
    """

    code = "CB113"
    name = "jax-key-reuse"
    words = frozenset({"jax"})
    calls = frozenset({"jax.random.*"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._used: dict[tuple[int, str], str] = {}

    def begin_cell(self, cell: CellContext) -> None:
        """A cell may run alone, so keys are followed within it."""
        self._used.clear()

    def visit_Name(self, node: ast.AST, cell: CellContext) -> None:
        """A key that is bound anew is fresh."""
        assert isinstance(node, ast.Name)
        if self._used and isinstance(node.ctx, ast.Store):
            self._used.pop((id(cell.scopes[-1]), node.id), None)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Follow what uses a key up."""
        drawn = (cell.callee or "").removeprefix("jax.random.")
        key = argument(node, "key", 0)
        if drawn in _NO_DRAW or "." in drawn or not isinstance(key, ast.Name) or _in_branch(cell):
            return
        place = (id(cell.scopes[-1]), key.id)
        before = self._used.get(place)
        if before is None:
            self._used[place] = drawn
        elif before != "split" or drawn != "split":
            self.report(cell, node, f"`{key.id}` was used up by `{before}`, so that this is not independent of it")
            del self._used[place]


def _in_branch(cell: CellContext) -> bool:
    for node in reversed(cell.parents):
        if isinstance(node, _BRANCHES):
            return True
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return False
    return False
