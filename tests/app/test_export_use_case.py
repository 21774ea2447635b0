"""Exporting real notebooks: the kernel, the index and the command are real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from jupyter_clusterbridge.app.export import ExportRequest, export_notebook
from jupyter_clusterbridge.model.errors import (
    EngineUnavailable,
    FolderNotWritable,
    KernelNotFound,
    NotExportable,
    ParameterInvalid,
)
from jupyter_clusterbridge.runtime.bundle import read_bundle

sys.path.insert(0, str(Path(__file__).parents[2]))
from dev.live import LiveNotebook

CELLS = {
    "load": "%load_ext clusterbridge",
    "settings": "SEED = 1",
    "use": "import random\nimport helper\nrandom.seed(SEED)\nprint(helper.read('data.csv'), random.random())",
    "save": "import clusterbridge as cb\nopen('out.txt', 'w').write('1')\ncb.artifact('out.txt')",
}


def write_notebook(folder: Path, cells: dict[str, str], kernel: str = "python3") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "helper.py").write_text("def read(path):\n    return open(path).read()\n")
    (folder / "data.csv").write_text("1\n")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": kernel, "display_name": kernel}})
    for name, source in cells.items():
        tags = {"tags": ["parameters"]} if name == "settings" else {}
        notebook.cells.append(nbformat.v4.new_code_cell(source, id=name, metadata=tags))
    path = folder / "nb.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_notebook(tmp_path_factory.mktemp("recorded") / "work", CELLS)
    with LiveNotebook(path) as live:
        live.run_all()
    return path


def test_a_recorded_notebook_becomes_a_bundle_with_its_run_as_baseline(recorded: Path, tmp_path: Path) -> None:
    result = export_notebook(ExportRequest(recorded, tmp_path / "b", ("docker",)))
    manifest = read_bundle(tmp_path / "b")
    assert manifest == result.manifest
    assert manifest.has_baseline
    assert manifest.engines == ("docker",)
    assert [file.path for file in manifest.data] == ["data.csv"]
    assert manifest.artifacts == ("out.txt",)
    assert {"project/data.csv", "project/helper.py", "pylock.toml"} <= set(manifest.files)
    record = json.loads((tmp_path / "b" / "baseline" / "record.json").read_text())
    assert [cell["status"] for cell in record["cells"]] == ["ok"] * 4
    assert record["identity"]["model"] == manifest.identity.model
    assert {"ipykernel", "jupyter-clusterbridge-runtime"} <= {package.name for package in manifest.lock.packages}
    assert "jupyter-clusterbridge" not in {package.name for package in manifest.lock.packages}
    text = (tmp_path / "b" / "requirements.txt").read_text()
    assert "file:" not in text
    assert str(Path.home()) not in text


def test_a_given_value_moves_the_baseline_cells_as_the_job_counts_them(recorded: Path, tmp_path: Path) -> None:
    result = export_notebook(ExportRequest(recorded, tmp_path / "b", parameters={"SEED": "2"}))
    record = json.loads((tmp_path / "b" / "baseline" / "record.json").read_text())
    assert [cell["cell_index"] for cell in record["cells"]] == [0, 1, 3, 4]
    assert record["parameters"] == {"SEED": 1}
    assert record["identity"]["code"] != result.manifest.identity.code
    assert record["identity"]["seeds"] == result.manifest.identity.seeds


def test_a_notebook_without_journal_is_exported_and_says_what_is_not_known(tmp_path: Path) -> None:
    cells = {name: source for name, source in CELLS.items() if name != "load"}
    result = export_notebook(ExportRequest(write_notebook(tmp_path / "work", cells), tmp_path / "b"))
    assert not result.manifest.has_baseline
    assert not (tmp_path / "b" / "baseline").exists()
    assert any("no baseline" in sentence for sentence in result.manifest.unknown)
    assert [file.path for file in result.manifest.data] == ["data.csv"]
    assert result.manifest.artifacts == ("out.txt",)


def test_an_install_in_a_cell_is_an_error_level_finding_and_no_obstacle(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", {"a": "!pip install numpy", "b": "%matplotlib inline\n%env A=1"})
    result = export_notebook(ExportRequest(path, tmp_path / "b"))
    assert ("CB401", 0) in [(finding.code, finding.cell_index) for finding in result.findings]
    assert any(warning.startswith("cell 0:") for warning in result.warnings)


@pytest.mark.parametrize(
    ("cells", "kernel", "change", "error"),
    [
        ({"a": "x ="}, "python3", {}, NotExportable),
        ({"a": "x = 1"}, "no-such-kernel", {}, KernelNotFound),
        ({"a": "x = 1"}, "python3", {"engines": ("lsf",)}, EngineUnavailable),
        ({"a": "x = 1"}, "python3", {"parameters": {"x": "1"}}, ParameterInvalid),
        ({"a": "x = 1"}, "python3", {"output": Path("/proc/bundle")}, FolderNotWritable),
    ],
)
def test_a_failed_export_leaves_nothing_behind(
    tmp_path: Path, cells: dict[str, str], kernel: str, change: dict[str, object], error: type[Exception]
) -> None:
    path = write_notebook(tmp_path / "work", cells, kernel)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error):
        export_notebook(ExportRequest(**{"notebook": path, "output": tmp_path / "b", **change}))  # type: ignore[arg-type]
    assert sorted(tmp_path.rglob("*")) == before


def test_nbconvert_writes_the_same_bundle_as_the_command(recorded: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nbconvert", "--to", "clusterbridge", recorded, "--output-dir", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    converted = read_bundle(tmp_path / "nb.bundle")
    exported = export_notebook(ExportRequest(recorded, tmp_path / "b")).manifest
    assert converted.identity == exported.identity
    assert sorted(converted.files) == sorted(exported.files)


def test_nbconvert_ends_with_one_message_and_the_exit_code_of_the_error(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", {"a": "x ="})
    command = [sys.executable, "-m", "nbconvert", "--to", "clusterbridge", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == NotExportable.exit_code
    assert "is not valid Python" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (path.parent / "nb.bundle").exists()


def test_an_interpreter_may_be_named_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_notebook(tmp_path / "work", {"use": "print(1)"})
    (tmp_path / "env").symlink_to(Path(sys.prefix))
    monkeypatch.chdir(tmp_path)
    named = Path(sys.executable).relative_to(sys.prefix)
    result = export_notebook(ExportRequest(path, tmp_path / "b", python=Path("env") / named))
    assert result.manifest.lock.python.split(".")[:2] == [str(part) for part in sys.version_info[:2]]


def test_an_interpreter_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "work", {"use": "print(1)"})
    with pytest.raises(KernelNotFound, match="cannot be started"):
        export_notebook(ExportRequest(path, tmp_path / "b", python=Path("no-such-python")))
