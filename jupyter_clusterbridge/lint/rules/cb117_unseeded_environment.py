"""CB117: a gymnasium environment that is never seeded."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule

_MAKE = frozenset({"gymnasium.make", "gym.make", "gymnasium.make_vec", "gym.vector.make", "gymnasium.vector.make"})


class UnseededEnvironment(Rule):
    """An environment of gymnasium is reset, and no reset ever gives it a seed.

    ## What it does

    Reports the first `env.reset()` of a notebook that makes environments by `gymnasium.make` or `gym.make`
    and in which no reset has a `seed` and nothing calls `env.seed` or a helper that speaks of seeding.

    ## Why it matters on a cluster

    An environment draws from a generator of its own, which takes its seed from entropy and not from
    `np.random.seed`. Episodes, rewards and the trained policy are other ones in the job.

    ## Bad example

    ```python
    import gymnasium as gym

    env = gym.make("CartPole-v1")
    state, info = env.reset()  # <-- here
    ```

    ## Good example

    ```python
    import gymnasium as gym

    env = gym.make("CartPole-v1")
    state, info = env.reset(seed=0)
    env.action_space.seed(0)
    ```

    ## Remedy

    Pass `seed=SEED` to the first reset, and call `env.action_space.seed(SEED)` where actions are sampled.
    """

    code = "CB117"
    name = "unseeded-environment"
    words = frozenset({"gymnasium", "gym"})
    methods = frozenset({"reset"})
    calls = _MAKE

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._made: set[str] = set()
        self._reset: tuple[ast.Call, CellContext] | None = None
        self._seeded = "seed" in notebook.source.lower()

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Gather environments and their resets."""
        if self._seeded:
            return
        if cell.callee in _MAKE:
            for parent in cell.within(ast.Assign):
                assert isinstance(parent, ast.Assign)
                self._made.update(target.id for target in parent.targets if isinstance(target, ast.Name))
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            unseeded = not has_star(node) and not node.args and argument(node, "seed") is None
            if node.func.value.id in self._made and unseeded and self._reset is None:
                self._reset = (node, cell)

    def end_notebook(self) -> None:
        """Report the first reset of a notebook that speaks of no seed."""
        if self._reset is not None:
            node, cell = self._reset
            message = f"`{ast.unparse(node)}` gets no seed, so that episodes differ from run to run"
            self.report(cell, node, message)
