"""Which files a folder gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_clusterbridge.lint.config import forget_configs
from jupyter_clusterbridge.lint.discovery import discover


@pytest.fixture
def project(tmp_path: Path) -> Path:
    forget_configs()
    files = {
        "b.ipynb": "{}",
        "a.ipynb": "{}",
        "script.py": "# %%\nx = 1\n",
        "module.py": "x = 1\n",
        "sub/deep/c.ipynb": "{}",
        ".ipynb_checkpoints/a-checkpoint.ipynb": "{}",
        ".hidden/a.ipynb": "{}",
        ".a.ipynb": "{}",
        "env/pyvenv.cfg": "",
        "env/lib/n.ipynb": "{}",
        "conda/conda-meta/x": "",
        "conda/n.ipynb": "{}",
        "node_modules/n.ipynb": "{}",
        "lib/site-packages/n.ipynb": "{}",
        "old/n.ipynb": "{}",
        "notes.txt": "",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def names(project: Path, *paths: Path) -> list[str]:
    return [path.relative_to(project).as_posix() for path in discover(paths).files]


def test_a_folder_gives_its_notebooks_and_percent_scripts_and_no_environment(project: Path) -> None:
    assert names(project, project) == ["a.ipynb", "b.ipynb", "script.py", "old/n.ipynb", "sub/deep/c.ipynb"]


def test_what_is_named_comes_once_and_in_the_order_given(project: Path) -> None:
    assert names(project, project / "b.ipynb", project / "module.py", project)[:3] == [
        "b.ipynb",
        "module.py",
        "a.ipynb",
    ]
    assert len(names(project, project, project)) == 5


def test_settings_leave_files_and_folders_out(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nexclude = ["old", "sub/*/c.ipynb"]\n')
    assert names(project, project) == ["a.ipynb", "b.ipynb", "script.py"]


def test_a_named_file_that_settings_leave_out_is_told(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nexclude = ["old"]\n')
    found = discover([project / "old" / "n.ipynb"])
    assert found.files == []
    assert "left out by 'exclude'" in found.notes[0]


def test_a_folder_without_notebooks_is_told(tmp_path: Path) -> None:
    assert discover([tmp_path]).notes == [f"{tmp_path} holds no notebook and no script with '# %%' cells"]


def test_links_to_folders_are_not_followed(project: Path) -> None:
    (project / "sub" / "loop").symlink_to(project)
    assert len(names(project, project)) == 5


def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_gone_through(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def refused(folder: str) -> object:
        if os.path.basename(folder) == "old":
            raise PermissionError(13, "Permission denied", folder)
        return scan(folder)

    monkeypatch.setattr("os.scandir", refused)
    found = discover([project])
    assert [path.name for path in found.files] == ["a.ipynb", "b.ipynb", "script.py", "c.ipynb"]
    assert found.notes == [f"{project / 'old'} cannot be read (Permission denied)"]
