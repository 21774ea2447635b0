"""What each low room may import beside its own: model the standard library, runtime its declared needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "jupyter_clusterbridge"
RUNTIME_NEEDS = {"IPython", "ipykernel", "jupyter_client", "nbclient", "nbformat", "psutil", "traitlets", "xxhash"}
"""The five declared needs, and what they bring with them in any case."""


def imported(path: Path) -> Iterator[str]:
    """Top-level names that a file imports anywhere, type checking blocks left out."""
    tree = ast.parse(path.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(("room", "allowed"), [("model", set()), ("runtime", RUNTIME_NEEDS)])
def test_a_low_room_imports_only_what_it_declares(repository: Path, room: str, allowed: set[str]) -> None:
    known = set(sys.stdlib_module_names) | {PACKAGE} | allowed
    found = {
        f"{path.relative_to(repository)}: {name}"
        for path in (repository / PACKAGE / room).rglob("*.py")
        for name in imported(path)
        if name not in known
    }
    assert sorted(found) == []


def test_importing_the_package_costs_a_kernel_nothing(repository: Path) -> None:
    heavy = ("tornado", "docker", "uv")
    code = f"import sys, {PACKAGE}; print([name for name in sys.modules if name.startswith({heavy})])"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"
