"""A clean replay as the baseline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_clusterbridge.app import baseline
from jupyter_clusterbridge.app.baseline import clean_replay, record_baseline
from jupyter_clusterbridge.app.export import ExportRequest, export_notebook
from jupyter_clusterbridge.export.runtime_wheel import REQUIRES
from jupyter_clusterbridge.model.errors import EnvironmentFailed
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.model.run import JobExit, RunState

CELLS = ["import random\nrandom.seed(1)", "x = random.random()\nprint(x)"]


def write_notebook(folder: Path, *sources: str, kernel: str = "python3") -> Path:
    folder.mkdir(exist_ok=True)
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": s, "execution_count": None, "outputs": []}
        for i, s in enumerate(sources)
    ]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (folder / "nb.ipynb").write_text(json.dumps(document))
    return folder / "nb.ipynb"


def test_a_replay_becomes_the_baseline_of_an_export(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", *CELLS)
    before = path.read_bytes()
    lines: list[str] = []
    result = record_baseline(path, lines.append)
    assert result.status.state is RunState.SUCCEEDED
    assert result.run_dir == tmp_path / "work" / ".clusterbridge" / "nb" / "baseline"
    assert path.read_bytes() == before
    assert lines[0] == "Replaying nb.ipynb from top to bottom"
    manifest = export_notebook(ExportRequest(path, tmp_path / "b")).manifest
    assert manifest.has_baseline
    record = json.loads((tmp_path / "b" / "baseline" / "record.json").read_text())
    assert record["role"] == "baseline"
    assert all(cell["rng_after"] for cell in record["cells"])


def test_a_replay_of_other_cells_is_no_baseline(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", *CELLS)
    record_baseline(path)
    assert clean_replay(read_notebook(path), ()) is not None
    path = write_notebook(tmp_path / "work", CELLS[0], "x = 2")
    assert clean_replay(read_notebook(path), ()) is None


def test_a_failed_replay_says_how_it_ended_and_is_no_baseline(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", "1 / 0")
    result = record_baseline(path)
    assert result.status.exit_code == JobExit.CELL_ERROR
    assert clean_replay(read_notebook(path), ()) is None


@pytest.fixture
def other_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel whose interpreter has neither ClusterBridge nor anything else."""
    environment = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    spec = tmp_path / "jupyter" / "kernels" / "other"
    spec.mkdir(parents=True)
    argv = [str(environment / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Other", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    return environment


def test_an_environment_without_ipykernel_is_told_what_to_install(tmp_path: Path, other_kernel: Path) -> None:
    path = write_notebook(tmp_path / "work", *CELLS, kernel="other")
    with pytest.raises(EnvironmentFailed, match="lacks ipykernel, IPython, nbclient") as caught:
        record_baseline(path)
    assert "-m pip install ipykernel" in caught.value.next_step
    assert not (tmp_path / "work" / ".clusterbridge").exists()


@pytest.mark.slow
def test_an_environment_without_clusterbridge_gets_the_runtime_lent(tmp_path: Path, other_kernel: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    python = other_kernel / "bin" / "python"
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *REQUIRES], check=True)
    result = record_baseline(write_notebook(tmp_path / "work", *CELLS, kernel="other"))
    assert result.status.state is RunState.SUCCEEDED
    installed = subprocess.run([uv, "pip", "list", "--python", python], capture_output=True, text=True, check=True)
    assert "clusterbridge" not in installed.stdout


def test_an_earlier_replay_comes_back_when_a_new_one_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_notebook(tmp_path / "work", "x = 1")
    first = record_baseline(path)
    before = (first.run_dir / "status.json").read_bytes()

    def broken(*arguments: object) -> None:
        raise EnvironmentFailed("the replay could not start")

    monkeypatch.setattr(baseline, "_replay", broken)
    with pytest.raises(EnvironmentFailed):
        record_baseline(path)
    assert (first.run_dir / "status.json").read_bytes() == before
    assert [entry.name for entry in first.run_dir.parent.iterdir()] == ["baseline"]
