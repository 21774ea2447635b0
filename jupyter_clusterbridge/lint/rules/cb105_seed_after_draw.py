"""CB105: a seed that comes after the first draw."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.flow import Deferred
from jupyter_clusterbridge.lint.randomness import STREAMS, stream_drawn
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.seeding import first_seeds, seeded_before

_LATER = ("DataLoader", "Sampler")
"""What draws only when a loop begins, and not where it is made."""


class SeedAfterDraw(Rule):
    """A global random stream is seeded, but only after something was drawn from it.

    ## What it does

    Reports the first draw of each global stream (Python's `random`, NumPy, torch) that stands above the
    stream's first seed.

    ## Why it matters on a cluster

    What was drawn before the seed, such as a split or the weights of a layer, is another one in each run.
    The seed below looks as if the notebook could be repeated, and it cannot.

    ## Bad example

    ```python
    import torch

    model = torch.nn.Linear(8, 2)  # <-- here
    # %%
    torch.manual_seed(0)
    noise = torch.randn(4, 8)
    ```

    ## Good example

    ```python
    import torch

    torch.manual_seed(0)
    # %%
    model = torch.nn.Linear(8, 2)
    noise = torch.randn(4, 8)
    ```

    ## Remedy

    Move the seed into the first cell, below the imports.
    """

    code = "CB105"
    name = "seed-after-draw"
    words = frozenset({"seed", "set_rng_state", "setstate", "set_state", "set_determinism"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._open = set(first_seeds(notebook))
        self._deferred = Deferred()

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at draws until the stream is seeded; at those of a function where it is called."""
        assert isinstance(node, ast.Call)
        if not self._open:
            return
        stream = stream_drawn(node, cell)
        if (cell.callee or "").endswith(_LATER):
            stream = None
        if cell.function is not None:
            self._deferred.note(node, cell.scopes, stream)
        elif stream is not None:
            self._draw(stream, node, node, cell)
        else:
            for drawn, inner in self._deferred.of_call(node):
                self._draw(drawn, inner, node, cell)

    def _draw(self, stream: str, drawing: ast.Call, node: ast.Call, cell: CellContext) -> None:
        if stream not in self._open:
            return
        self._open.discard(stream)
        if not seeded_before(stream, node, cell):
            index, line = first_seeds(self.notebook)[stream]
            where = f"line {line}" if index == cell.cell.index else f"line {line} of a later cell"
            within = "" if drawing is node else f" in `{ast.unparse(node.func)}`"
            drawn = ast.unparse(drawing.func)
            self.report(cell, node, f"`{drawn}`{within} draws from {STREAMS[stream]} before the seed in {where}")
