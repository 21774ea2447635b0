"""The runtime runs in an environment that has its few declared dependencies and nothing else of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_clusterbridge.export.runtime_wheel import build_runtime_wheel

pytestmark = pytest.mark.slow

UNWANTED = ("click", "docker", "jinja2", "jupyter_server", "nbconvert", "rich", "uv", "torch", "numpy")
IMPORT_ALL = """
import importlib, importlib.util, pkgutil, sys
import jupyter_clusterbridge.model, jupyter_clusterbridge.runtime
for package in (jupyter_clusterbridge.model, jupyter_clusterbridge.runtime):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
print([name for name in sys.argv[1:] if name in sys.modules])
"""


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    """The Python of a fresh environment with the runtime wheel alone."""
    folder = tmp_path_factory.mktemp("bare")
    wheel = build_runtime_wheel(folder)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return python


def test_every_module_of_model_and_runtime_can_be_imported(bare_python, tmp_path):
    done = subprocess.run(
        [str(bare_python), "-c", IMPORT_ALL, *UNWANTED], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_a_notebook_runs_to_its_end(bare_python, tmp_path):
    cells = ["import sys\nprint(sys.prefix)", "import clusterbridge as cb\ncb.metric('loss', 0.5)", "!true"]
    notebook = tmp_path / "training.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in cells]), notebook)
    command = [str(bare_python), "-m", "jupyter_clusterbridge.runtime", "--notebook", str(notebook)]
    done = subprocess.run(
        [*command, "--run-dir", str(tmp_path / "run")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "status.json").read_bytes())["state"] == "succeeded"
    assert str(bare_python.parent.parent) in done.stdout
    assert (tmp_path / "run" / "record" / "record.json").exists()
