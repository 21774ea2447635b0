"""The main job on the example: record, export, run on each engine, compare."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from end_to_end_helpers import Command, last_line
from live import LiveNotebook

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]


@dataclasses.dataclass
class Exported:
    """The example, recorded and exported."""

    notebook: Path
    bundle: Path
    status: str


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, repository_root: Path, clusterbridge: Command) -> Exported:
    """Record the example in a live kernel and export it."""
    folder = tmp_path_factory.mktemp("example")
    notebook = folder / "train_classifier.ipynb"
    shutil.copy(repository_root / "examples" / notebook.name, notebook)
    with LiveNotebook(notebook) as live:
        live.run_all()
        status = live.execute("%clusterbridge status")
    options = []
    if image := os.environ.get("CLUSTERBRIDGE_TEST_BASE_IMAGE"):
        options = ["--base-image", image]
    result = clusterbridge("export", notebook, "-o", folder / "bundle", *options)
    assert result.exit_code == 0, last_line(result)
    return Exported(notebook, folder / "bundle", status)


@pytest.fixture(scope="module")
def local_run(exported: Exported, clusterbridge: Command) -> Path:
    """The bundle's run on the local engine."""
    run = exported.bundle.parent / "run-local"
    result = clusterbridge("run", exported.bundle, "--out", run)
    assert result.exit_code == 0, last_line(result)
    return run


def test_status_names_identity_recording_and_what_is_unforgivable(exported: Exported) -> None:
    for word in ("identity", "recorded", "cluster"):
        assert word in exported.status.lower(), exported.status


def test_the_local_run_is_the_model_of_the_notebook(
    exported: Exported, local_run: Path, clusterbridge: Command
) -> None:
    result = clusterbridge("compare", exported.bundle, local_run, "--format", "json")
    document = result.json
    assert document["verdict"] == "same", last_line(result)
    assert result.exit_code == 0
    assert document["identity"]["baseline"] == document["identity"]["run"]


def test_the_run_directory_holds_what_a_job_leaves(local_run: Path) -> None:
    executed = nbformat.read(local_run / "executed.ipynb", as_version=4)
    nbformat.validate(executed)
    status = json.loads((local_run / "status.json").read_text())
    metrics = json.loads((local_run / "metrics.json").read_text())
    assert status["state"] == "succeeded"
    assert {metric["name"] for metric in metrics["metrics"]} == {"accuracy", "train_loss"}
    assert (local_run / "artifacts" / "classifier.pt").stat().st_size > 0
    assert (local_run / "record" / "record.json").is_file()


@pytest.mark.engine
def test_docker_and_local_give_one_model(
    exported: Exported, local_run: Path, clusterbridge: Command, docker_engine: None
) -> None:
    run = exported.bundle.parent / "run-docker"
    ran = clusterbridge("run", exported.bundle, "--engine", "docker", "--out", run, "--memory", "4g")
    assert ran.exit_code == 0, last_line(ran)
    result = clusterbridge("compare", local_run, run, "--format", "json")
    assert result.json["verdict"] == "same", last_line(result)


def test_a_notebook_with_a_rerun_cell_is_told_so_by_check(
    tmp_path: Path, repository_root: Path, clusterbridge: Command
) -> None:
    notebook = tmp_path / "train_classifier.ipynb"
    shutil.copy(repository_root / "examples" / notebook.name, notebook)
    with LiveNotebook(notebook) as live:
        live.run_all()
        live.run("train")
    document = clusterbridge("check", notebook, "--format", "json").json
    assert [i["kind"] for i in document["interventions"]] == ["rerun"]
    train = next(cell for cell in document["cells"] if cell["cell_id"] == "train")
    assert train["unsafe_to_rerun"]


@pytest.mark.engine
def test_the_demo_works_from_a_fresh_clone_on_a_plain_debian(
    tmp_path: Path, repository_root: Path, docker_engine: None
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", repository_root, clone], check=True)
    image = subprocess.run(
        [repository_root / "dev/engines/base-image", "--python", "/usr/bin/python3"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    links = find_links()
    options = [part for link in links for part in ("-v", f"{link}:{link}:ro")]
    options += ["-e", f"PIP_FIND_LINKS={' '.join(links)}", "-v", f"{clone}:/clone", "-w", "/clone"]
    process = subprocess.run(
        ["docker", "run", "--rm", *options, image, "./dev/demo", "/tmp/demo"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    assert "verdict   SAME" in process.stdout


def find_links() -> list[str]:
    """Local folders of wheels that pip is told of here, such as one that holds a CPU build of torch."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True
    ).stdout
    values = [line.partition("=")[2].strip().strip("'") for line in listed.splitlines() if "find-links" in line]
    return sorted({link for value in values for link in value.split() if Path(link).is_dir()})
