"""CB520: warnings switched off as a whole."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_FILTERS = {"warnings.filterwarnings", "warnings.simplefilter"}
_NARROW = ("message", "category", "module", "lineno")


class SilencedWarnings(Rule):
    """All warnings, or NumPy's about NaN, are switched off.

    ## What it does

    Reports, as information, `warnings.filterwarnings("ignore")` and `simplefilter("ignore")` without a
    category or a message outside of `catch_warnings`, `logging.disable`, and `np.seterr` that ignores
    invalid values.

    ## Why it matters on a cluster

    Of a job only the log remains. "invalid value encountered in divide", a sampler that ran out or a
    scheduler called in the wrong order would have stood there.

    ## Bad example

    ```python
    import warnings

    import numpy as np

    warnings.filterwarnings("ignore")  # <-- here
    np.seterr(all="ignore")  # <-- here
    ```

    ## Good example

    ```python
    import warnings

    warnings.filterwarnings("ignore", category=DeprecationWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import old_library
    ```

    ## Remedy

    Name the category or the message that is to be quiet, for as few lines as possible.
    """

    code = "CB520"
    name = "silenced-warnings"
    severity = Severity.INFO
    words = frozenset({"filterwarnings", "simplefilter", "seterr", "logging.disable"})
    calls = frozenset({*_FILTERS, "numpy.seterr", "logging.disable"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what is switched off."""
        if cell.function is not None or next(cell.within(ast.With), None) is not None:
            return
        if cell.callee in _FILTERS:
            narrow = len(node.args) > 1 or any(argument(node, name) is not None for name in _NARROW)
            if constant(argument(node, "action", 0), cell) == "ignore" and not narrow:
                self.report(cell, node, "all warnings are switched off")
        elif cell.callee == "numpy.seterr":
            if "ignore" in (
                constant(argument(node, name, place), cell) for name, place in (("all", 0), ("invalid", 4))
            ):
                self.report(cell, node, "NumPy's warnings about invalid values are switched off")
        elif cell.callee == "logging.disable":
            self.report(cell, node, "messages of all loggers are switched off")
