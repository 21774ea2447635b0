"""CB414: a locale that the machine must have."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule

_EVERYWHERE = {"C", "POSIX", "C.UTF-8", "C.utf8"}


class NamedLocale(Rule):
    """A cell sets a locale that a container may not have.

    ## What it does

    Reports `locale.setlocale` with the name of a locale or with an empty string, which takes that of the
    machine. `C`, `C.UTF-8` and questions without a value are left alone, and so is a call in a `try`.

    ## Why it matters on a cluster

    Images have no locales but `C` and `C.UTF-8`, so that a name ends in `locale.Error`. With the machine's
    own locale, numbers and month names are read in another language than in the notebook.

    ## Bad example

    ```python
    import locale

    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")  # <-- here
    price = locale.atof("1.234,50")
    ```

    ## Good example

    ```python
    import locale

    locale.setlocale(locale.LC_ALL, "C")
    price = float("1.234,50".replace(".", "").replace(",", "."))
    ```

    ## Remedy

    Parse with explicit rules (`decimal=","` in pandas, `dayfirst=True`), without a locale.
    """

    code = "CB414"
    name = "named-locale"
    words = frozenset({"setlocale"})
    calls = frozenset({"locale.setlocale"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at the locale's name."""
        value = constant(argument(node, "locale", 1), cell)
        if not isinstance(value, str) or value in _EVERYWHERE or next(cell.within(ast.Try), None) is not None:
            return
        shown = f"the locale `{value}` is missing in most images" if value else "the locale is that of the machine"
        self.report(cell, node, shown)
