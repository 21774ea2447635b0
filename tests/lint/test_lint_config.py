"""Settings in pyproject.toml: which file counts, what it may say, and one clear error for what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_clusterbridge.lint.config import LintConfig, config_for, fits, forget_configs
from jupyter_clusterbridge.lint.registry import Choice, all_rules, parse_codes
from jupyter_clusterbridge.model.errors import ConfigInvalid


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_configs()


def settings(folder: Path, text: str) -> LintConfig:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(f"[tool.clusterbridge.lint]\n{text}\n")
    return config_for(folder / "n.ipynb")


def test_all_keys_are_read(tmp_path: Path) -> None:
    config = settings(
        tmp_path,
        'select = ["CB1", "cb2"]\nignore = ["CB101"]\nexclude = ["old"]\n'
        'per-file-ignores = {"demo/*" = ["CB203"]}',
    )
    assert config == LintConfig(
        tmp_path, ("CB1", "CB2"), ("CB101",), per_file_ignores=(("demo/*", ("CB203",)),), exclude=("old",)
    )


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    settings(tmp_path, 'ignore = ["CB101"]')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert config_for(inner / "n.ipynb").ignore == ("CB101",)
    forget_configs()
    assert settings(tmp_path / "a", 'ignore = ["CB102"]').ignore == ("CB102",)


def test_without_a_table_every_rule_is_wanted(tmp_path: Path) -> None:
    choice = config_for(tmp_path / "n.ipynb").choice_for(tmp_path / "n.ipynb", None, None)
    assert choice.rules() == all_rules()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('select = ["CB9"]', "select: no rule has the code 'CB9'"),
        ('ignore = ["X101"]', "ignore: no rule has the code 'X101'"),
        ('ignore = ["C"]', "ignore: no rule has the code 'C'"),
        ('ignore = ["c1"]', "no rule has the code 'C1'"),
        ('per-file-ignores = {"a" = ["CB999"]}', "per-file-ignores: no rule has the code 'CB999'"),
        ('per-file-ignores = ["a"]', "per-file-ignores is no table"),
        ('per-file-ignores = {"a" = "CB101"}', "per-file-ignores a is no list of texts"),
        ("select = []", "select names no code"),
        ('select = [" "]', "select names no code"),
        ('selct = ["CB1"]', "has the key 'selct'; there are select, ignore"),
        ('select = "CB1"', "select is no list of texts"),
        ("exclude = [1]", "exclude is no list of texts"),
        ("select = [", "is not valid TOML"),
    ],
)
def test_a_mistake_is_one_error_that_names_the_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        settings(tmp_path, text)
    assert message in caught.value.message
    assert str(tmp_path / "pyproject.toml") in caught.value.message


def test_a_table_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.clusterbridge]\nlint = 3\n")
    with pytest.raises(ConfigInvalid, match="is no table"):
        config_for(tmp_path)


@pytest.mark.parametrize(
    ("select", "ignore", "wanted", "unwanted"),
    [
        (("CB",), (), {"CB001", "CB101", "CB703"}, set()),
        (("CB1",), (), {"CB101", "CB001", "CB002"}, {"CB201"}),
        (("CB101",), ("CB1",), {"CB101"}, {"CB102"}),
        (("CB1",), ("CB101",), {"CB102"}, {"CB101"}),
        (("CB",), ("CB002",), {"CB001"}, {"CB002"}),
        (("CB1",), ("CB0",), {"CB101"}, {"CB001", "CB002"}),
        (("CB1",), ("CB",), {"CB101"}, {"CB201"}),
        (("CB101",), ("CB101",), set(), {"CB101"}),
    ],
)
def test_the_longer_beginning_decides(
    select: tuple[str, ...], ignore: tuple[str, ...], wanted: set[str], unwanted: set[str]
) -> None:
    codes = {rule.code for rule in Choice(select, ignore).rules()}
    assert wanted <= codes
    assert not unwanted & codes


def test_the_command_line_takes_the_place_of_settings_but_files_keep_their_own(tmp_path: Path) -> None:
    config = settings(tmp_path, 'select = ["CB1"]\nignore = ["CB101"]\nper-file-ignores = {"demo" = ["CB203"]}')
    inside, outside = tmp_path / "demo" / "n.ipynb", tmp_path / "n.ipynb"
    assert config.choice_for(outside, ("CB2",), ("CB201",)) == Choice(("CB2",), ("CB201",))
    assert config.choice_for(inside, ("CB2",), None) == Choice(("CB2",), ("CB101", "CB203"))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("old", "old/a.ipynb", True),
        ("old", "x/old/a.ipynb", True),
        ("old", "older/a.ipynb", False),
        ("*_draft.ipynb", "x/a_draft.ipynb", True),
        ("x/*.ipynb", "x/a.ipynb", True),
        ("x/*.ipynb", "y/x/a.ipynb", False),
        ("./x/", "x/a.ipynb", True),
        ("x/y", "x/y/z/a.ipynb", True),
        ("**/old", "old/a.ipynb", True),
        ("**/old/**", "x/old/a.ipynb", True),
        ("**/old/*.ipynb", "old/a.ipynb", True),
        ("old/**", "old/x/a.ipynb", True),
        ("old/**", "x/old/a.ipynb", False),
        ("/old", "old/a.ipynb", True),
        ("/old", "x/old/a.ipynb", False),
    ],
)
def test_a_pattern_fits_a_path_or_a_folder_around_it(pattern: str, path: str, expected: bool) -> None:
    assert fits(Path("/project") / path, pattern, Path("/project")) is expected


def test_codes_come_in_one_text_or_several() -> None:
    assert parse_codes(["CB1, cb203", "CB1", " "], "--select") == ("CB1", "CB203")
