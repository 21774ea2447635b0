"""CB102: a seed that is another one in each run."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, calls_in, has_star, is_constant, names_in
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.randomness import streams_seeded
from jupyter_clusterbridge.lint.rule import Rule

_ENTROPY = {
    "time.time",
    "time.time_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.process_time",
    "os.urandom",
    "os.getpid",
    "os.getrandom",
    "uuid.uuid1",
    "uuid.uuid4",
    "datetime.now",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "secrets.randbits",
    "secrets.randbelow",
    "secrets.token_bytes",
    "secrets.token_hex",
    "random.SystemRandom",
    "builtins.id",
}
_NEED_A_SEED = {
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.PCG64",
    "numpy.random.MT19937",
    "numpy.random.Philox",
    "numpy.random.SFC64",
    "numpy.random.SeedSequence",
    "numpy.random.seed",
    "random.seed",
    "random.Random",
}

_SEED_ARGUMENTS = ("seed", "random_state", "random_seed", "rstate")


_TORCH_SEEDERS = ("manual_seed", "set_seed", "seed_everything", "seed_all", "set_random_seed", "fix_seed")


class EntropySeed(Rule):
    """A random generator is seeded from the clock, the process or the system's entropy.

    ## What it does

    Reports a seed that comes from `time`, `datetime`, `os.urandom`, `uuid`, `secrets` or a process id, also
    through a name or as an argument `seed` or `random_state` of any call; a generator that is made without a
    seed, such as `np.random.default_rng()`; and `torch.seed()`.

    ## Why it matters on a cluster

    Each run is another one, and the record of a run does not say which. A job that diverges cannot be
    replayed.

    ## Bad example

    ```python
    import random
    import time

    import numpy as np

    SEED = int(time.time())
    random.seed(SEED)  # <-- here
    rng = np.random.default_rng()  # <-- here
    ```

    ## Good example

    ```python
    import random
    import time

    import numpy as np

    SEED = 20240501
    random.seed(SEED)
    rng = np.random.default_rng(SEED)
    started = time.time()
    ```

    ## Remedy

    Use a fixed number as the seed and make it a parameter, so that each run can be repeated and varied on
    purpose.
    """

    code = "CB102"
    name = "entropy-seed"

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._entropy_names: set[str] = set()

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold entropy."""
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            if isinstance(target, ast.Name):
                carried = bool(self._entropy_names) and not self._entropy_names.isdisjoint(names_in(node.value))
                self._entropy_names.discard(target.id)
                if carried:
                    self._entropy_names.add(target.id)

    def visit_Call(self, node: ast.AST, cell: CellContext) -> None:
        """Look at what a generator is seeded with."""
        assert isinstance(node, ast.Call)
        called = cell.callee
        if called in _ENTROPY:
            self._note_entropy(cell)
            return
        if called in ("torch.seed", "torch.random.seed"):
            self.report(cell, node, f"`{ast.unparse(node.func)}()` takes the seed from the system's entropy")
            return
        needs = called in _NEED_A_SEED
        if not needs and not streams_seeded(node, cell):
            return
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(self._is_entropy(value, cell) for value in values):
            self.report(cell, node, f"`{ast.unparse(node.func)}` gets another seed in each run")
        elif needs and not has_star(node) and self._no_seed(node, cell):
            self.report(cell, node, f"`{ast.unparse(node)}` takes its seed from the system's entropy")

    def visit_keyword(self, node: ast.AST, cell: CellContext) -> None:
        """Look at the seed that any other call gets by name."""
        assert isinstance(node, ast.keyword)
        if node.arg not in _SEED_ARGUMENTS or not self._is_entropy(node.value, cell):
            return
        call = cell.parents[-1] if cell.parents else None
        if isinstance(call, ast.Call):
            called = cell.resolve(call.func)
            if called not in _NEED_A_SEED and "seed" not in ast.unparse(call.func).lower():
                self.report(cell, node.value, f"`{ast.unparse(call.func)}` gets another seed in each run")

    def _note_entropy(self, cell: CellContext) -> None:
        """The names that the visited call is assigned to hold entropy from here on."""
        for parent in cell.within(ast.Assign):
            assert isinstance(parent, ast.Assign)
            self._entropy_names.update(t.id for t in parent.targets if isinstance(t, ast.Name))

    def _no_seed(self, node: ast.Call, cell: CellContext) -> bool:
        first = node.args[0] if node.args else (node.keywords[0].value if node.keywords else None)
        return first is None or is_constant(first, None, cell) or is_constant(argument(node, "seed"), None, cell)

    def _is_entropy(self, value: ast.expr, cell: CellContext) -> bool:
        if isinstance(value, (ast.Constant, ast.List, ast.Dict, ast.Tuple)):
            return False
        called = set(calls_in(value, cell))
        if not called.isdisjoint(_ENTROPY):
            return True
        # a loader's worker takes it from the generator; it is entropy only where nobody has seeded that
        if "torch.initial_seed" in called and not any(word in self.notebook.source for word in _TORCH_SEEDERS):
            return True
        return not self._entropy_names.isdisjoint(names_in(value)) if self._entropy_names else False
