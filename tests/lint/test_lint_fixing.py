"""Fixes made in files: all that can be, none that break a cell, and nothing else."""

from __future__ import annotations

import ast
import json
import os
import stat
from pathlib import Path

import pytest
from lint_kit import notebook_of

from jupyter_clusterbridge.app import lint as use_case
from jupyter_clusterbridge.app.lint import LintOptions, lint_paths
from jupyter_clusterbridge.lint import fixing
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.fixes import replace, wrap
from jupyter_clusterbridge.lint.fixing import fix_source
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import MARK, Rule, page_of
from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.lint.sources.base import SourceFile
from jupyter_clusterbridge.lint.sources.script import ScriptFile
from jupyter_clusterbridge.model.errors import FolderNotWritable
from jupyter_clusterbridge.model.findings import Edit, Fix


class Sorts(Rule):
    """Wraps calls of ``listing`` that no ``sorted`` is around.

    ## Remedy

    Sort it.
    """

    code = "CB999"
    name = "sorts"
    methods = frozenset({"listing"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        parent = cell.parents[-1]
        if not (isinstance(parent, ast.Call) and ast.unparse(parent.func) == "sorted"):
            self.report(cell, node, "unsorted", fix=wrap(node, "sorted(", ")", cell, "Sort it"))


class Breaks(Rule):
    """Would leave a cell that is no Python.

    ## Remedy

    None.
    """

    code = "CB998"
    name = "breaks"
    methods = frozenset({"bad"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        self.report(cell, node, "bad", fix=replace(node, "for", cell, "Break it"))


class NeverDone(Rule):
    """Gives a fix that does not remove its finding.

    ## Remedy

    None.
    """

    code = "CB997"
    name = "never-done"
    methods = frozenset({"again"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        fix = Fix("Once more", (Edit(1, 0, 1, 0, "x = 1\n"),))
        self.report(cell, node, "again", fix=fix)


class Wraps(Rule):
    """Wraps a call again and again, and is never content.

    ## Remedy

    None.
    """

    code = "CB996"
    name = "wraps"
    methods = frozenset({"endless"})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        self.report(cell, node, "endless", fix=wrap(node, "f(", ")", cell, "Wrap it"))


def source(text: str) -> SourceFile:
    return ScriptFile(text.encode(), Path("script.py"))


def test_fixes_that_stand_in_each_other_are_made_one_after_the_other() -> None:
    fixed = fix_source(source("# %%\nx = listing(listing(1))\ny = 2\n"), [Sorts])
    assert fixed.source.content == b"# %%\nx = sorted(listing(sorted(listing(1))))\ny = 2\n"
    assert (fixed.fixes, fixed.findings) == (2, ())


def test_a_fix_that_breaks_its_cell_is_not_made_and_the_others_are() -> None:
    fixed = fix_source(source("# %%\nx = listing(1)\nbad()\n"), [Sorts, Breaks])
    assert fixed.source.content == b"# %%\nx = sorted(listing(1))\nbad()\n"
    assert (fixed.fixes, [finding.code for finding in fixed.findings]) == (1, ["CB998"])


def test_a_fix_that_removes_nothing_ends_all_the_same() -> None:
    fixed = fix_source(source("# %%\nagain()\n"), [NeverDone])
    assert fixed.fixes == fixing._ROUNDS
    assert [finding.code for finding in fixed.findings] == ["CB997"]


def test_a_fix_after_which_everything_is_still_found_is_not_made() -> None:
    fixed = fix_source(source("# %%\nendless()\n"), [Wraps])
    assert (fixed.source.content, fixed.fixes) == (b"# %%\nendless()\n", 0)


def test_one_round_is_needed_for_each_call_of_a_function_and_each_gets_a_seed_of_its_own() -> None:
    calls = "".join(f"x{n} = make_moons(9)\n" for n in range(15))
    fixed = fix_source(source("# %%\nfrom sklearn.datasets import make_moons\n" + calls), all_rules())
    assert fixed.fixes == 15
    assert {f"random_state={n})" in fixed.source.content.decode() for n in range(15)} == {True}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_fixes_of_a_rule_leave_python_that_it_is_content_with(rule: type[Rule], tmp_path: Path) -> None:
    text = MARK.sub("", "".join(text for _, text in page_of(rule).examples("Bad example")))
    if rule.code == "CB001" or "# %% In [" in text:  # a script does not say how its cells ran
        return
    before = [finding for finding in lint_notebook(notebook_of(text)) if finding.code == rule.code]
    fixable = sum(finding.fix is not None for finding in before)
    fixed = fix_source(source("# %%\n" + text), [rule])
    assert len(fixed.findings) == len(before) - fixable
    assert fixed.fixes <= fixable
    assert bool(fixed.fixes) is bool(fixable)
    again = fix_source(fixed.source, [rule])
    assert again.source.content == fixed.source.content


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rules = (*all_rules(), Sorts)
    monkeypatch.setattr("jupyter_clusterbridge.lint.registry._chosen", lambda choice: rules)
    path = tmp_path / "n.ipynb"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# listing(1)"]},
        {
            "source": ["import os\n", "x = listing('é')\n", "input()"],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["listing('é')"]}],
            "metadata": {"tags": ["a"]},
            "execution_count": 3,
            "cell_type": "code",
        },
    ]
    path.write_text(json.dumps({"nbformat_minor": 4, "nbformat": 4, "metadata": {}, "cells": cells}, indent=2))
    return path


def test_a_fixed_notebook_keeps_outputs_order_of_keys_and_layout(notebook: Path) -> None:
    before = notebook.read_text()
    run = lint_paths([notebook], LintOptions(fix=True))
    assert notebook.read_text() == before.replace("x = listing('\\u00e9')", "x = sorted(listing('\\u00e9'))")
    assert run.report.fixed == 1
    assert "CB501" in {finding.code for finding in run.report.findings}
    assert "CB999" not in {finding.code for finding in run.report.findings}


def test_without_the_option_nothing_is_written(notebook: Path) -> None:
    before = notebook.read_bytes()
    run = lint_paths([notebook], LintOptions())
    assert (notebook.read_bytes(), run.report.fixed) == (before, None)
    assert sum(finding.fix is not None for finding in run.report.findings) == 1


def test_a_fixed_file_keeps_its_mode_and_a_link_stays_one(notebook: Path) -> None:
    notebook.chmod(0o640)
    link = notebook.with_name("link.ipynb")
    link.symlink_to(notebook)
    assert lint_paths([link], LintOptions(fix=True)).report.fixed == 1
    assert link.is_symlink()
    assert stat.S_IMODE(notebook.stat().st_mode) == 0o640
    assert "sorted(listing(" in notebook.read_text()
    assert sorted(os.listdir(notebook.parent)) == ["link.ipynb", "n.ipynb"]


def test_a_file_that_needs_no_fix_is_not_touched(notebook: Path) -> None:
    lint_paths([notebook], LintOptions(fix=True))
    was = notebook.stat().st_mtime_ns, notebook.stat().st_ino
    lint_paths([notebook], LintOptions(fix=True))
    assert (notebook.stat().st_mtime_ns, notebook.stat().st_ino) == was


def test_a_file_that_someone_saves_meanwhile_is_left_to_them(
    notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saved_meanwhile(*arguments: object) -> object:
        fixed = fix_source(*arguments)  # type: ignore[arg-type]
        notebook.write_text("theirs")
        return fixed

    monkeypatch.setattr(use_case, "fix_source", saved_meanwhile)
    [finding] = lint_paths([notebook], LintOptions(fix=True)).report.findings
    assert finding.code == "CB001"
    assert "was changed while it was fixed" in finding.message
    assert notebook.read_text() == "theirs"


def test_a_read_only_file_is_left_alone_and_the_others_are_fixed(notebook: Path) -> None:
    other = notebook.with_name("other.ipynb")
    other.write_bytes(notebook.read_bytes())
    notebook.chmod(0o444)
    before = notebook.read_bytes()
    run = lint_paths([notebook, other], LintOptions(fix=True))
    assert (notebook.read_bytes(), run.report.fixed) == (before, 1)
    assert run.notes == (f"{notebook} is read-only, so it is not fixed",)
    assert [finding.path for finding in run.report.findings if finding.code == "CB999"] == [str(notebook)]


def test_a_folder_that_cannot_be_written_is_told_and_the_others_are_fixed(
    notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = notebook.with_name("other.ipynb")
    other.write_bytes(notebook.read_bytes())
    write = use_case.write_atomic

    def refused(path: Path, data: bytes, mode: int) -> None:
        if path == notebook:
            raise FolderNotWritable(f"{path}: cannot be written (Read-only file system)")
        write(path, data, mode)

    monkeypatch.setattr(use_case, "write_atomic", refused)
    run = lint_paths([notebook, other], LintOptions(fix=True))
    assert run.report.fixed == 1
    assert run.notes == (f"{notebook}: cannot be written (Read-only file system), so it is not fixed",)
    assert "sorted(" not in notebook.read_text()
    assert "sorted(" in other.read_text()
