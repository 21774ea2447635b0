"""CB603: a device that the job may not have."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import constant, method
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.environ import set_variable
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity
from jupyter_clusterbridge.runtime.source import Magic

_NUMBERED = re.compile(r"cuda:([1-9]\d*)")
_DEVICE_CALLS = {"torch.device", "torch.cuda.set_device"}
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class FixedDevice(Rule):
    """The source fixes the GPU that it uses.

    ## What it does

    Reports `"cuda:1"` and higher numbers, `torch.cuda.set_device(1)`, `.cuda(1)` and values of
    `CUDA_VISIBLE_DEVICES` as a warning; `.cuda()`, `.to("cuda")` and `torch.device("cuda")` without a
    question for `torch.cuda.is_available()` anywhere in the notebook as info.

    ## Why it matters on a cluster

    A job commonly sees one GPU, as number 0, whichever it is; `cuda:1` raises there. A node without a free
    GPU gets a job that fails at once rather than one that runs slowly, which may be right, but should be
    meant.

    ## Bad example

    ```python
    import torch

    model = torch.nn.Linear(4, 2).to("cuda:1")  # <-- here
    ```

    ## Good example

    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2).to(device)
    ```

    ## Remedy

    Use `device = torch.device("cuda" if torch.cuda.is_available() else "cpu")` and leave the choice of the
    GPU to the scheduler.
    """

    code = "CB603"
    name = "fixed-device"
    words = frozenset({"cuda", "CUDA"})
    calls = frozenset({"torch.cuda.set_device", *_DEVICE_CALLS})
    methods = frozenset({"cuda", "to"})

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at device strings with a number."""
        assert isinstance(node, ast.Constant)
        if isinstance(node.value, str) and _NUMBERED.fullmatch(node.value):
            self.report(cell, node, f"`{node.value}` is a GPU that the job may not see")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls that move to a GPU."""
        first = node.args[0] if node.args else None
        if cell.callee == "torch.cuda.set_device" or method(node) == "cuda":
            if isinstance(first, ast.Constant) and type(first.value) is int and first.value > 0:
                self.report(cell, node, f"GPU {first.value} is one that the job may not see")
            elif cell.callee != "torch.cuda.set_device" and first is None and not node.keywords:
                self._plain(node, ".cuda()", cell)
        elif cell.callee in _DEVICE_CALLS or method(node) == "to":
            value = first.value if isinstance(first, ast.Constant) else None
            if value in ("cuda", "cuda:0"):
                self._plain(node, f'"{value!s}"', cell)

    def visit_Assign(self, node: ast.AST, cell: CellContext) -> None:
        """Look at ``os.environ["CUDA_VISIBLE_DEVICES"] = ...``."""
        assert isinstance(node, ast.Assign)
        # an empty value or -1 asks for the CPU, and a dictionary for a child is that child's matter
        hidden = constant(node.value, cell) in ("", "-1")
        if set_variable(node, cell) == _VISIBLE and not hidden:
            self._visible(node, cell)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at ``%env CUDA_VISIBLE_DEVICES=...``."""
        if magic.name in ("env", "set_env") and magic.body.startswith((f"{_VISIBLE}=", f"{_VISIBLE} ")):
            self._visible(magic, cell)

    def _visible(self, where: ast.AST | Magic, cell: CellContext) -> None:
        self.report(cell, where, f"`{_VISIBLE}` is the scheduler's to set")

    def _plain(self, node: ast.AST, shown: str, cell: CellContext) -> None:
        if "is_available" not in self.notebook.source:
            message = f"`{shown}` fails where the job has no GPU, and nothing asks for one"
            self.report(cell, node, message, severity=Severity.INFO)
