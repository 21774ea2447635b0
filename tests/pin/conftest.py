"""A small environment with a package of each source, made once from real tools."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from jupyter_clusterbridge.pin.pip_config import read_pip_settings
from jupyter_clusterbridge.pin.uv import Where, find_uv, uv_variables

BACKEND = '[build-system]\nrequires = ["flit_core>=3.9,<4"]\nbuild-backend = "flit_core.buildapi"\n'


def write_project(folder: Path, name: str, version: str = "1.0") -> Path:
    """A project of one module that says its version."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        f'{BACKEND}[project]\nname = "{name}"\nversion = "{version}"\ndescription = "Made for a test"\n'
    )
    (folder / f"{name}.py").write_text(f'"""Made for a test."""\n\n__version__ = {version!r}\n')
    return folder


def uv(*arguments: str) -> str:
    """Run uv with pip's settings."""
    environ = uv_variables(read_pip_settings(), Where.ALL)
    done = subprocess.run([find_uv(), *arguments], capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def git(*arguments: str) -> str:
    """Run git as somebody."""
    command = [
        "git",
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@localhost",
        "-c",
        "commit.gpgsign=false",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class SmallEnvironment:
    """A virtual environment without ClusterBridge and where its local packages came from."""

    python: Path
    folder: Path
    commit: str


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallEnvironment:
    """six from the index, and cbedit, cbdir, cbgit and cbwheel from this machine."""
    folder = tmp_path_factory.mktemp("small-user-home")
    edit, plain = write_project(folder / "cbedit", "cbedit"), write_project(folder / "cbdir", "cbdir")
    repository, wheel = write_project(folder / "cbgit", "cbgit"), write_project(folder / "cbwheel", "cbwheel")
    git("init", "-q", str(repository))
    git("-C", str(repository), "add", ".")
    git("-C", str(repository), "commit", "-qm", "Begin")
    commit = git("-C", str(repository), "rev-parse", "HEAD").strip()
    uv("build", "-q", "--wheel", "--out-dir", str(folder / "dist"), str(wheel))
    uv("venv", "-q", str(folder / "venv"))
    python = folder / "venv" / "bin" / "python"
    built = next((folder / "dist").glob("*.whl"))
    sources = ["six==1.17.0", "-e", str(edit), str(plain), f"git+file://{repository}", str(built)]
    uv("pip", "install", "-q", "--python", str(python), *sources)
    return SmallEnvironment(python, folder, commit)


@pytest.fixture(autouse=True)
def session_cache(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep out of the user's cache."""
    monkeypatch.setenv("CLUSTERBRIDGE_CACHE", str(shared_cache))


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for the tests of this folder, so that indexes are asked once."""
    return tmp_path_factory.mktemp("cache")
