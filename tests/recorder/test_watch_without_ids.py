"""What a person does is told as well where the front end sends no cell ids, and in plain IPython."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file


def kinds(front: Any) -> set[str]:
    return {found.kind.value for found in front.found(harmless=False)}


def test_order_reruns_edits_and_failures(front: Any) -> None:
    one = front("x = 0", "x += 1", "lr = 0.1", "out = x * lr", "1 / 0", ids=False)
    one.run("a", "b", "e")
    one.run("c", "c")
    one.run("d")
    one.live.execute("lr = 0.5")
    one.run("e", "f")
    assert kinds(one) >= {"rerun", "edited_rerun", "failed_run"}
    assert any("`lr = 0.5` to `0.1`" in found.message for found in one.found("edited_rerun"))


def test_state_of_a_cell_that_is_gone(front: Any) -> None:
    one = front("x = 1", "y = x + hidden", ids=False)
    one.run("a", "b")
    one.live.execute("hidden = len('abc')")
    one.run("c")
    [found] = one.found("deleted_cell_state")
    assert "`hidden` was made by a cell that is not in the saved file" in found.message


def test_a_moved_widget(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front("import ipywidgets as w\ns = w.IntSlider(1)\nprint(s.comm.comm_id)", "depth = s.value", ids=False)
    one.run("a")
    comm_id = one.run("b").strip()
    one.move(comm_id, value=7)
    one.run("c")
    assert "moved from `1` to `7`; cell 2 read it" in one.one("widget_change").message


def test_modules_variables_and_installs(front: Any) -> None:
    one = front("import helper, os", "y = helper.f()", "%pip install --no-index -q nothing-like-this", ids=False)
    module = one.path.parent / "helper.py"
    module.write_text("def f():\n    return 1\n")
    one.run("a", "b", "c", "d")
    one.live.execute("os.environ['MODE'] = 'x'")
    one.run("c")
    module.write_text("def f():\n    return 22\n")
    assert kinds(one) >= {"module_changed", "env_change", "install"}


def test_plain_ipython(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import os, sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("%load_ext clusterbridge", store_history=True)
        for source in ("x = 0", "name = input()", "x += 1", "x += 1", "import pdb; pdb.set_trace(); y = x"):
            shell.run_cell(source, store_history=True)
        os.environ["MODE"] = "fast"
        shell.run_cell("z = y", store_history=True)
        shell.run_cell("raise KeyboardInterrupt", store_history=True)
        shell.run_cell("y = 2", store_history=True)
        """
    )
    notebook = tmp_path / "work.ipynb"
    sources = ("%load_ext clusterbridge", "x = 0", "name = input()", "x += 1", "z = y", "raise KeyboardInterrupt")

    cells = [
        {"cell_type": "code", "id": f"c{n}", "source": s, "metadata": {}, "outputs": []}
        for n, s in enumerate(sources)
    ]
    notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    environment = {**os.environ, "JPY_SESSION_NAME": str(notebook), "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, input="me\nx = 40\nc\n", text=True,
        capture_output=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = check_notebook_file(notebook).interventions
    told = {one.kind.value for one in found}
    assert told >= {"typed_input", "rerun", "interrupt", "env_change"}, found
    assert any(one.message.startswith("`x` was changed by hand in the debugger") for one in found), found
