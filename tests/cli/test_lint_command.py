"""``clusterbridge lint`` as a person, an editor, a hook and a CI job call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = "# %%\nimport os\nx = input()\n# %%\ny = os.listdir()\n"


def run(*arguments: object, cwd: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jupyter_clusterbridge", "lint", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "s.py").write_text(SCRIPT)
    cells = [{"cell_type": "code", "metadata": {}, "source": ["# a\n", "exit()"], "outputs": []}] * 2
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    (tmp_path / "n.ipynb").write_text(json.dumps(book, indent=1))
    return tmp_path


def test_a_folder_is_linted_and_script_findings_name_the_line_of_the_file(project: Path) -> None:
    done = run(".", cwd=project)
    assert done.returncode == 1
    places = [line.split(": ")[0] for line in done.stdout.splitlines() if not line.startswith(" ")][:-1]
    assert places == ["n.ipynb:cell 0:line 2", "s.py:3", "s.py:5"]
    assert done.stdout.splitlines()[-1].startswith("3 findings: 2 errors, 1 warning.")


def test_rules_are_chosen_by_code_and_by_beginning(project: Path) -> None:
    done = run("s.py", "--select", "CB3,CB5", "--ignore", "CB501", "--format", "json", cwd=project)
    report = json.loads(done.stdout)
    assert [finding["code"] for finding in report["findings"]] == ["CB301"]
    assert (done.returncode, report["files"]) == (0, 1)


def test_fail_on_says_from_which_level_the_exit_code_is_one(project: Path) -> None:
    assert run("s.py", "--select", "CB3", cwd=project).returncode == 0
    assert run("s.py", "--select", "CB3", "--fail-on", "warning", cwd=project).returncode == 1


def test_standard_input_is_a_script_or_a_notebook(project: Path) -> None:
    done = run("-", cwd=project, stdin=SCRIPT)
    assert "<stdin>:3: CB501" in done.stdout
    done = run("-", "--stdin-name", "sub/n.ipynb", cwd=project, stdin=(project / "n.ipynb").read_text())
    assert "sub/n.ipynb:cell 0:line 2: CB502" in done.stdout
    assert done.returncode == 1


def test_standard_input_that_settings_leave_out_is_told(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nexclude = ["old"]\n')
    done = run("-", "--stdin-name", "old/a.py", cwd=project, stdin=SCRIPT)
    assert (done.returncode, done.stdout) == (0, "No findings.\n")
    assert "old/a.py is left out by 'exclude'" in done.stderr


def test_standard_input_takes_the_settings_of_its_name(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nper-file-ignores = {"a.py" = ["CB5"]}\n')
    assert "CB501" not in run("-", "--stdin-name", "a.py", cwd=project, stdin=SCRIPT).stdout
    assert "CB501" in run("-", "--stdin-name", "b.py", cwd=project, stdin=SCRIPT).stdout


def test_fixes_are_counted_with_what_is_left(project: Path) -> None:
    done = run("s.py", "--fix", cwd=project)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Fixed: ")
    assert "Left: " in last


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s.py", "--select", "CB9"], "--select: no rule has the code 'CB9'"),
        (["s.py", "--ignore", "XY"], "--ignore: no rule has the code 'XY'"),
        (["s.py", "--select", ","], "--select names no code"),
        (["-", "--fix"], "--fix cannot change standard input"),
        ([], "Missing argument"),
    ],
)
def test_a_wrong_command_line_is_told_before_anything_is_read(
    arguments: list[str], message: str, project: Path
) -> None:
    done = run(*arguments, cwd=project, stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("output_format", ["text", "sarif", "github", "json"])
def test_a_mistake_in_the_settings_is_one_error(output_format: str, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nselect = ["CB9"]\n')
    done = run("s.py", "--format", output_format, cwd=project)
    assert done.returncode == 30
    if output_format == "json":
        assert "no rule has the code 'CB9'" in json.loads(done.stdout)["message"]
    else:
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert len(done.stderr.splitlines()) == 2


def test_sarif_and_annotations_name_lines_of_the_file(project: Path) -> None:
    sarif = json.loads(run(".", "--format", "sarif", cwd=project).stdout)
    lines = (project / "n.ipynb").read_text().splitlines()
    region = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert "exit()" in lines[region["startLine"] - 1]
    annotations = run(".", "--format", "github", cwd=project).stdout.splitlines()
    assert annotations[1].startswith("::error file=s.py,line=3,title=CB501")


def test_a_note_goes_to_standard_error(project: Path) -> None:
    (project / "empty").mkdir()
    done = run("empty", "--format", "json", cwd=project)
    assert json.loads(done.stdout) == {"schema": "clusterbridge/lint/1", "files": 0, "findings": []}
    assert done.stderr.startswith("note: empty holds no notebook")


def test_a_reader_that_leaves_ends_it_without_a_traceback(project: Path) -> None:
    (project / "long.py").write_text("# %%\n" + "x = input()\n" * 5000)
    command = f"{sys.executable} -m jupyter_clusterbridge lint long.py | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, env=os.environ)
    assert "Traceback" not in done.stderr
