"""CB516: logins that ask a person."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, has_star
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_ASKS = {"huggingface_hub.notebook_login", "huggingface_hub.interpreter_login", "google.colab.drive.mount",
         "google.colab.auth.authenticate_user", "ee.Authenticate", "kagglehub.login",
         "pydrive.auth.GoogleAuth"}  # fmt: skip
_WITH_KEY = {"huggingface_hub.login": ("token", 0, "HF_TOKEN"), "wandb.login": ("key", 1, "WANDB_API_KEY"),
             "comet_ml.login": ("api_key", 0, "COMET_API_KEY"),
             "comet_ml.init": ("api_key", 0, "COMET_API_KEY")}  # fmt: skip
_SHELL = re.compile(
    r"\b(?:(?:huggingface-cli|hf\s+auth)\s+login(?!.*(?:--token|\$))|wandb\s+login\s*$|gcloud\s+(?:[\w-]+\s+)*login\b"
    r"(?!.*--cred-file)|az\s+login\s*$|aws\s+configure\s*$|kaggle\s+auth\s+login|docker\s+login(?!.*-p)"
    r"|gh\s+auth\s+login"
    r"(?!.*--with-token))"
)


class InteractiveLogin(Rule):
    """A cell logs in by asking a person.

    ## What it does

    Reports `notebook_login()`, `drive.mount(...)`, `authenticate_user()` and login commands in shell escapes
    as errors; `login()` of Hugging Face, Weights & Biases and Comet without a key as a warning, since these
    ask only where no key is in the environment.

    ## Why it matters on a cluster

    A browser window or a field for a token is shown to nobody. The call fails or waits until the time limit.

    ## Bad example

    ```python
    from huggingface_hub import notebook_login

    notebook_login()  # <-- here
    # %%
    import wandb

    wandb.login()  # <-- here
    ```

    ## Good example

    ```python
    import os

    import wandb
    from huggingface_hub import login

    login(token=os.environ["HF_TOKEN"])
    wandb.login(key=os.environ["WANDB_API_KEY"])
    ```

    ## Remedy

    Remove the login: the libraries take `HF_TOKEN`, `WANDB_API_KEY` and the like from the environment, which
    the cluster's secret store sets.
    """

    code = "CB516"
    name = "interactive-login"
    severity = Severity.ERROR
    words = frozenset({"login", "mount", "uthenticate", "configure", "GoogleAuth", "comet_ml"})
    calls = frozenset({*_ASKS, *_WITH_KEY})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at logins."""
        called = cell.callee or ""
        shown = called.removeprefix("google.colab.")
        guarded = next(cell.within(ast.If, ast.Try, ast.IfExp), None) is not None
        if called in _ASKS:
            certain = cell.function is None and not guarded
            severity = Severity.ERROR if certain else Severity.WARNING
            self.report(cell, node, f"`{shown}` waits for a person", severity=severity)
            return
        keyword, position, variable = _WITH_KEY[called]
        if has_star(node) or guarded or argument(node, keyword, position) is not None:
            return
        # the anonymous mode of W&B and a variable set further up need nobody
        if argument(node, "anonymous") is None and variable not in self.notebook.source:
            message = f"`{shown}` asks for a key where `{variable}` is not set"
            self.report(cell, node, message, severity=Severity.WARNING)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        for line, command in shell_lines(magic, cell):
            if _SHELL.search(command.split(" #")[0].rstrip()):
                self.report(cell, line, f"`{command[:40]}` waits for a person")
