"""The hooks that the repository offers, run by pre-commit itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed")
import yaml  # which pre-commit needs

SOURCE = ["import os\n", "x = [open(n).read() for n in os.listdir('d')]"]


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, repository: Path) -> Path:
    """A git repository with a notebook and a module, and our hooks as local ones in this environment."""
    hooks = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        assert hook["entry"].split()[0] == "clusterbridge"
        hook["entry"] = hook["entry"].replace("clusterbridge", f"{sys.executable} -m jupyter_clusterbridge", 1)
        hook["language"] = "system"
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(json.dumps(config))
    cell = {"cell_type": "code", "metadata": {}, "source": SOURCE, "outputs": [], "execution_count": None}
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
    (tmp_path / "n.ipynb").write_text(json.dumps(book, indent=1))
    (tmp_path / "module.py").write_text("x = input()\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def run_hook(project: Path, hook: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--all-files", "--verbose"]
    environment = {**os.environ, "PRE_COMMIT_HOME": str(project.parent / "cache")}
    return subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, check=False)


def test_the_manifest_is_valid(repository: Path) -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    subprocess.run(command, cwd=repository, check=True, capture_output=True)


def test_the_hook_lints_notebooks_and_leaves_modules_alone(project: Path) -> None:
    done = run_hook(project, "clusterbridge-lint")
    assert "n.ipynb:cell 0:line 2: CB301" in done.stdout
    assert "module.py" not in done.stdout
    assert done.returncode == 0  # a warning alone does not fail it
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nselect = ["CB9"]\n')
    assert run_hook(project, "clusterbridge-lint").returncode == 1


def test_the_fixing_hook_changes_the_file_and_fails_once(project: Path) -> None:
    done = run_hook(project, "clusterbridge-lint-fix")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert "sorted(os.listdir('d'))" in (project / "n.ipynb").read_text()
    git(project, "add", "-A")
    assert run_hook(project, "clusterbridge-lint-fix").returncode == 0
