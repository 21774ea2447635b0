"""CB001: a file that cannot be read as a Python notebook."""

from __future__ import annotations

from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity


class UnreadableNotebook(Rule):
    """A file is missing, is no notebook, is too old, or is not written in Python.

    ## What it does

    Reports a file that cannot be read, with the reason. The other files of the same run are still linted. A
    notebook in another language is of info level, since a folder may hold any.

    ## Why it matters on a cluster

    Nothing can be exported from such a file, and a check in CI that passes because it read nothing is worse
    than none.

    ## Bad example

    ```json
    {"worksheets": [], "metadata": {"name": "old"}, "nbformat": 3, "nbformat_minor": 0}
    ```

    ## Good example

    ```json
    {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ```

    ## Remedy

    Open the notebook in JupyterLab and save it again, or restore it from version control.
    """

    # reported by app/lint.py, which reads the files; the class gives the finding its name and its page
    code = "CB001"
    name = "unreadable-notebook"
    severity = Severity.ERROR
