"""CB501: code that waits for a person."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_INPUT = {
    "builtins.input", "getpass.getpass", "google.colab.files.upload", "click.prompt", "click.confirm"
}  # fmt: skip
_WIDGETS = {"interact", "interactive", "interact_manual", "interactive_output", "Button", "FileUpload", "Text",
            "Textarea", "Password", "IntSlider", "FloatSlider", "FloatLogSlider", "IntRangeSlider", "Dropdown",
            "Select", "SelectMultiple", "RadioButtons", "ToggleButtons", "Checkbox", "IntText", "FloatText",
            "BoundedIntText", "BoundedFloatText", "DatePicker", "ColorPicker", "Combobox"}  # fmt: skip


class AsksAPerson(Rule):
    """A cell asks for typed input or offers a widget to be moved.

    ## What it does

    Reports `input`, `getpass` and uploads that ask, at error level where a cell runs them itself and as a
    warning in functions; and widgets of ipywidgets that take a value, as a
    warning once for each cell. Logins are the matter of
    CB516.

    ## Why it matters on a cluster

    Nobody answers. A job's kernel refuses input, so that the cell fails; a widget keeps its first value, so
    that the job runs with another setting than the one that was chosen by hand.

    ## Bad example

    ```python
    name = input("experiment name? ")  # <-- here
    # %%
    import ipywidgets as widgets

    rate = widgets.FloatSlider(min=0.0, max=1.0)  # <-- here
    ```

    ## Good example

    ```python
    name = "baseline"
    rate = 0.1


    def read(input):
        return input("x")
    ```

    ## Remedy

    Make the value a parameter: assign it in the cell tagged `parameters` and pass it as `-p NAME=VALUE`.
    """

    code = "CB501"
    name = "asks-a-person"
    words = frozenset({"input(", "getpass", "upload", "click", "widgets"})
    calls = frozenset({*_INPUT, "ipywidgets.*"})
    severity = Severity.ERROR

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell is reported once for its widgets."""
        self._widgets = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that ask."""
        called = cell.callee
        if called in _INPUT:
            severity = Severity.ERROR if cell.function is None else Severity.WARNING
            shown = called.removeprefix("builtins.") if called else ""
            self.report(cell, node, f"`{shown}` waits for a person", severity=severity)
        elif called is None or self._widgets:
            return
        elif called.startswith("ipywidgets.") and called.rpartition(".")[2] in _WIDGETS:
            message = f"the widget `{called.rpartition('.')[2]}` keeps its first value in a job"
            self._widgets = self.report(cell, node, message, severity=Severity.WARNING)
