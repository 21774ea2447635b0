"""CB706: values of an earlier session."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_SESSIONS = frozenset({"dill.load_session", "dill.load_module", "cloudpickle.load_session"})
_HISTORY = ("recall", "rep", "rerun", "macro")


class StoredSession(Rule):
    """A cell takes values or code from an earlier session.

    ## What it does

    Reports `%store -r`, `%rerun`, `%recall` and `%macro`, and sessions loaded by `dill`.

    ## Why it matters on a cluster

    What `%store` keeps, and the history of inputs, lie in the author's home folder. A job has neither: it
    goes on without the names, until a later cell ends with a `NameError`. A pickled session brings values
    that no source explains.

    ## Bad example

    ```python
    %store -r features  # <-- here
    # %%
    import dill

    dill.load_session("yesterday.pkl")  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    features = pd.read_parquet("features.parquet")
    %store features
    ```

    ## Remedy

    Write the value to a file of the project and read it, or compute it in this notebook.
    """

    code = "CB706"
    name = "stored-session"
    severity = Severity.ERROR
    words = frozenset({"store", "load_session", "load_module", "recall", "rep ", "rerun", "macro"})
    calls = _SESSIONS

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._stored: set[str] = set()

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at magics that take values or code."""
        if magic.kind != "line":
            return
        words = magic.body.split("#")[0].split()
        if magic.name == "store" and words[:1] != ["-r"]:
            self._stored.update(words)
        elif magic.name == "store" and (len(words) == 1 or not self._stored.issuperset(words[1:])):
            self.report(cell, magic, f"`%store {' '.join(words)[:40]}` takes values from the author's home folder")
        elif magic.name in _HISTORY and words:
            self.report(cell, magic, f"`%{magic.name}` takes code from the history of this machine")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at loaded sessions."""
        message = f"`{cell.callee}` brings values that no source explains"
        self.report(cell, node, message, severity=Severity.WARNING)
