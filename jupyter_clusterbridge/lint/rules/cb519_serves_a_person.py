"""CB519: a page or a server for somebody in front of a screen."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, is_constant
from jupyter_clusterbridge.lint.chains import Origins
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_BLOCKS = {
    "uvicorn.run",
    "bottle.run",
    "streamlit.run",
    "waitress.serve",
    "http.server.test",
    "werkzeug.serving.run_simple",
}
_APPS = ("flask.Flask", "dash.Dash", "gradio.", "jupyter_dash.JupyterDash", "panel.")


class ServesAPerson(Rule):
    """A cell starts a page that a person is meant to use.

    ## What it does

    Reports `launch()` of Gradio, `run()` of Flask and Dash, `uvicorn.run` and the like at the top level of a
    cell, and `%tensorboard`, as information.

    ## Why it matters on a cluster

    Nobody opens the page. A server in the foreground keeps the job from ever reaching its end; one with
    `share=True` opens a way into the cluster.

    ## Bad example

    ```python
    import gradio as gr

    demo = gr.Interface(fn=str.upper, inputs="text", outputs="text")
    demo.launch(share=True)  # <-- here
    # %%
    %tensorboard --logdir runs  # <-- here
    ```

    ## Good example

    ```python
    import gradio as gr

    demo = gr.Interface(fn=str.upper, inputs="text", outputs="text")
    print(demo.fn("a"))
    ```

    ## Remedy

    Keep the page in a notebook of its own, and let the job write what it shows.
    """

    code = "CB519"
    name = "serves-a-person"
    words = frozenset(
        {"gradio", "flask", "dash", "uvicorn", "bottle", "streamlit", "waitress", "tensorboard", "panel"}
    )
    calls = frozenset(_BLOCKS)
    methods = frozenset({"launch", "run", "run_server"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._apps = Origins(lambda name: name.startswith(_APPS))

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Follow names that hold an application."""
        assert isinstance(node, ast.Assign)
        self._apps.note(node, cell)

    def visit_With(self, node: ast.AST, cell: CellContext) -> None:
        """Follow ``with gr.Blocks() as demo``."""
        assert isinstance(node, ast.With)
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name):
                self._apps.note(ast.Assign([item.optional_vars], item.context_expr), cell)

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at what starts an application."""
        if cell.function is not None:
            return
        held = isinstance(node.func, ast.Attribute) and self._apps.holds(node.func.value, cell)
        if cell.callee in _BLOCKS or (held and cell.callee is None):
            shared = " and opens it to the internet" if is_constant(argument(node, "share"), True, cell) else ""
            self.report(cell, node, f"`{_shown(node)}()` serves a page to a person{shared}")

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at ``%tensorboard``."""
        if magic.kind == "line" and magic.name == "tensorboard":
            self.report(cell, magic, "`%tensorboard` shows a page to a person", severity=Severity.INFO)


def _shown(node: ast.Call) -> str:
    """The called name, without the long expression that may stand before it."""
    text = ast.unparse(node.func)
    return text if text.replace(".", "").isidentifier() else f".{text.rpartition('.')[2]}"
