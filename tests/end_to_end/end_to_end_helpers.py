"""Notebooks that go through the whole main job, by the command line, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import v4

Command = Callable[..., "Result"]


class Result:
    """How a command ended."""

    def __init__(self, process: subprocess.CompletedProcess[str]) -> None:
        self.exit_code = process.returncode
        self.output = process.stdout
        self.messages = process.stderr

    @property
    def json(self) -> Any:
        """The document on standard output."""
        return json.loads(self.output)


def run_clusterbridge(*arguments: object, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Result:
    """Run ``clusterbridge`` in a process of its own; a traceback fails the test at once."""
    process = subprocess.run(
        [sys.executable, "-m", "jupyter_clusterbridge", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=280,
    )
    assert "Traceback (most recent call last)" not in process.stderr, process.stderr
    return Result(process)


def write_notebook(path: Path, cells: Sequence[tuple[str, str]]) -> Path:
    """Write a notebook of code cells given as pairs of id and source; the cell ``parameters`` is tagged."""
    notebook = v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        }
    )
    for cell_id, source in cells:
        cell = v4.new_code_cell(source, id=cell_id)
        if cell_id == "parameters":
            cell.metadata["tags"] = ["parameters"]
        notebook.cells.append(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def last_line(result: Result) -> str:
    """What a failed assertion should show."""
    return f"exit code {result.exit_code}\n{result.output}\n{result.messages}"
