"""docs/lint.md against the code: its settings are read, its links and codes exist, its options are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from jupyter_clusterbridge.cli.group import cli
from jupyter_clusterbridge.lint.config import config_for, forget_configs
from jupyter_clusterbridge.lint.registry import is_known


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "lint.md").read_text()


def test_the_settings_that_it_shows_are_valid(page: str, tmp_path: Path) -> None:
    [settings] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(settings)
    forget_configs()
    config = config_for(tmp_path)
    assert config.exclude == ("archive", "drafts/*.ipynb")
    assert dict(config.per_file_ignores) == {"demos/*": ("CB5",), "*_colab.ipynb": ("CB401", "CB408")}


def test_its_links_and_codes_exist(page: str, repository: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert links
    assert [link for link in links if not (repository / "docs" / link).exists()] == []
    codes = set(re.findall(r"\bCB\d+\b", page))
    assert [code for code in codes if not is_known(code)] == []


def test_its_options_are_those_of_the_command(page: str) -> None:
    known = set(re.findall(r"--[a-z-]+", CliRunner().invoke(cli, ["lint", "--help"]).output))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) <= known
    assert known - {"--help"} <= set(re.findall(r"--[a-z-]+", page))
