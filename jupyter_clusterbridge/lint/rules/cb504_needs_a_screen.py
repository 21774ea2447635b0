"""CB504: windows and debuggers."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_WINDOW_BACKENDS = {"qt", "qt4", "qt5", "qt6", "tk", "gtk", "gtk3", "gtk4", "wx", "osx", "macosx"}
_BROWSER_BACKENDS = {"widget", "ipympl", "notebook", "nbagg"}
_AGG_WINDOWS = {
    "tkagg",
    "qtagg",
    "qt5agg",
    "qt4agg",
    "gtk3agg",
    "gtk4agg",
    "wxagg",
    "macosx",
    "gtk3cairo",
    "qtcairo",
}
_STOPS = {
    "builtins.breakpoint", "pdb.set_trace", "ipdb.set_trace", "IPython.embed", "IPython.core.debugger.set_trace",
    "pdb.post_mortem", "pdb.pm", "cv2.imshow", "cv2.waitKey", "cv2.namedWindow", "tkinter.Tk",
}  # fmt: skip


class NeedsAScreen(Rule):
    """A cell opens a window or stops in a debugger.

    ## What it does

    Reports debugger calls (`breakpoint()`, `pdb.set_trace()`, `%debug`), OpenCV and Tk windows, Matplotlib
    backends that need a display, and `plt.show(block=True)` at error level; and `%matplotlib widget` as a
    warning. A plain `plt.show()` with the inline backend is fine.

    ## Why it matters on a cluster

    There is no display and no one to type `continue`: the cell fails, or waits until the time limit.

    ## Bad example

    ```python
    %matplotlib qt  # <-- here
    # %%
    total = 0
    breakpoint()  # <-- here
    ```

    ## Good example

    ```python
    %matplotlib inline
    import matplotlib.pyplot as plt

    plt.plot([1, 2])
    plt.show()
    ```

    ## Remedy

    Use `%matplotlib inline` and `plt.savefig`, and take debugger calls out.
    """

    code = "CB504"
    name = "needs-a-screen"
    words = frozenset(
        {"matplotlib", "pylab", "gui", "debug", "pdb", "breakpoint", "embed", "cv2", "tkinter", "plt.show"}
    )
    calls = frozenset({*_STOPS, "matplotlib.use", "matplotlib.pyplot.show", "matplotlib.pyplot.switch_backend"})
    severity = Severity.ERROR

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at magics that choose a backend or debug."""
        if magic.kind != "line":
            return
        word = magic.body.split("#")[0].strip().lower()
        if magic.name in ("matplotlib", "pylab", "gui"):
            if word in _WINDOW_BACKENDS:
                self.report(cell, magic, f"`%{magic.name} {word}` needs a display")
            elif word in _BROWSER_BACKENDS:
                message = f"`%{magic.name} {word}` needs a browser; the job's plots stay empty"
                self.report(cell, magic, message, severity=Severity.WARNING)
        elif magic.name == "debug" or (magic.name == "pdb" and word in ("", "on", "1")):
            self.report(cell, magic, f"`%{magic.name}` waits for a person when it stops")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that open a window or stop."""
        called = cell.callee
        if called in _STOPS:
            severity = Severity.ERROR if cell.function is None else Severity.WARNING
            shown = called.removeprefix("builtins.") if called else ""
            self.report(cell, node, f"`{shown}` needs a screen or a person", severity=severity)
        elif called == "matplotlib.pyplot.show" and is_constant(argument(node, "block"), True, cell):
            self.report(cell, node, "`plt.show(block=True)` waits until a window is closed")
        elif called in ("matplotlib.use", "matplotlib.pyplot.switch_backend"):
            backend = constant(argument(node, "backend", 0), cell)
            if isinstance(backend, str) and backend.lower() in _AGG_WINDOWS:
                self.report(cell, node, f"Matplotlib's backend `{backend}` needs a display")
