"""CB404: a password or a token in the source."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence
from jupyter_clusterbridge.runtime.source import Magic

_KNOWN = re.compile(
    r"AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,}"
    r"|sk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}"
    r"|xox[abprs]-[\w-]{10,}|AIza[\w-]{35}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|[a-z][a-z0-9+.-]*://[^\s/:@{}$<]+:[^\s/:@{}$<*]{3,}@[\w.-]+"
)
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:password|passwd|secret|secret_key|private_key)$|client_secret|aws_secret"
)
_TOKEN_NAME = re.compile(r"(?i)(?:^|_)(?:token|api_?key|access_?key|auth|apikey|key_id|wandb_key)$")
_PLACEHOLDER = re.compile(
    r"(?i)^(?:x+|\*+|\.+|-+|<.*>|\[.*\]|\{.*\}|\$.*|%.*%|none|null|todo|changeme|change_me|secret|password|passwd"
    r"|your.*|my.*|.*example.*|.*placeholder.*|.*dummy.*|test\w*|token|admin|root)$"
)


class CredentialLiteral(Rule):
    """The source holds what looks like a password, a token or a private key.

    ## What it does

    Reports strings in the form of known tokens (AWS, GitHub, GitLab, Hugging Face, OpenAI, Slack, Google),
    private keys, addresses with a password, and strings given to names such as `password` or `api_key`. The
    value itself never appears in a message.

    ## Why it matters on a cluster

    The notebook becomes part of the bundle, of images and of the run's record; all who can read one of
    these can read the secret. It also stops working in all jobs at once when it is changed.

    ## Bad example

    ```python
    import os

    api_key = "q7Lm2Zx9Rt4Vb8Nw1Kd6"  # <-- here
    os.environ["DB_PASSWORD"] = "correct-horse-9"  # <-- here
    ```

    ## Good example

    ```python
    import os

    api_key = os.environ["API_KEY"]
    pad_token = "[PAD]"
    token = "word"
    password = "<your password>"
    ```

    ## Remedy

    Read it from an environment variable that the cluster's secret store sets, and revoke the one that stood
    here.
    """

    code = "CB404"
    name = "credential-literal"
    in_dead_code = True

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at strings and at the names that they are given to."""
        assert isinstance(node, ast.Constant)
        value = node.value
        if not isinstance(value, str) or len(value) < 4:
            return
        if _KNOWN.search(value):
            self.report(cell, node, "a string has the form of a credential")
            return
        name = _given_to(node, cell)
        if name is not None and _is_secret(name, value):
            message = f"a string given to `{name}` looks like a credential"
            self.report(cell, node, message, confidence=Confidence.MEDIUM)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at ``%env NAME=value`` and at shell commands."""
        if _KNOWN.search(magic.body):
            self.report(cell, magic, "a command holds a string in the form of a credential")
        elif magic.name in ("env", "set_env"):
            name, _, value = magic.body.partition("=" if "=" in magic.body else " ")
            if _is_secret(name.strip(), value.split("#")[0].strip().strip("\"'")):
                message = f"a string given to `{name.strip()}` looks like a credential"
                self.report(cell, magic, message, confidence=Confidence.MEDIUM)


def _is_secret(name: str, value: str) -> bool:
    if " " in value or _PLACEHOLDER.match(value):
        return False
    if _SECRET_NAME.search(name):
        return len(value) >= 6
    if not _TOKEN_NAME.search(name):
        return False
    # a word is no token; what a machine made up is long and mixes letters and digits
    return len(value) >= 16 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _given_to(node: ast.Constant, cell: CellContext) -> str | None:
    """The name, key or keyword that a string is the value of."""
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, ast.keyword):
        return parent.arg
    if isinstance(parent, ast.Dict):
        for key, value in zip(parent.keys, parent.values, strict=True):
            if value is node and isinstance(key, ast.Constant):
                return str(key.value)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target
        if isinstance(target, ast.Subscript):
            return (
                str(target.slice.value)
                if isinstance(target.slice, ast.Constant) and parent.value is node
                else None
            )
        return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", None)
    return None
