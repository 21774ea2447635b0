"""Bad input ends in one message that says what, why and what next, with its own exit code; nothing is left."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    },
    "cells": [
        {
            "cell_type": "code",
            "id": "one",
            "metadata": {},
            "source": "print(1)",
            "outputs": [],
            "execution_count": None,
        }
    ],
}

START = json.dumps(
    {
        "event": "kernel_start",
        "schema": "clusterbridge/journal/1",
        "kernel_id": "k",
        "role": "notebook",
        "python": "3.11.7",
        "at": "2026-01-01T00:00:00+00:00",
    }
)


def run(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jupyter_clusterbridge", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        timeout=120,
    )


def assert_one_message(process: subprocess.CompletedProcess[str], exit_code: int, *words: str) -> None:
    """The command failed with its own code and one message with a next step."""
    assert process.returncode == exit_code, f"{process.returncode}\n{process.stdout}\n{process.stderr}"
    assert "Traceback" not in process.stderr
    errors = [line for line in process.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, process.stderr
    assert "  next: " in process.stderr
    for word in words:
        assert word in process.stderr


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A good notebook of one cell."""
    return write(tmp_path / "good" / "notebook.ipynb", NOTEBOOK)


def write(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def left_beside(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir() if entry.name != path.name)


def test_a_corrupt_notebook(tmp_path: Path) -> None:
    path = tmp_path / "corrupt.ipynb"
    path.write_text('{"cells": [')
    for command in (("check", path), ("export", path, "-o", tmp_path / "out"), ("baseline", path)):
        assert_one_message(run(*command), 10, "corrupt.ipynb", "not valid JSON")
    assert left_beside(path) == []


def test_a_notebook_of_format_3(tmp_path: Path) -> None:
    path = write(tmp_path / "old.ipynb", {"nbformat": 3, "nbformat_minor": 0, "worksheets": [], "metadata": {}})
    assert_one_message(run("export", path, "-o", tmp_path / "out"), 11, "format 3", "nbconvert")
    assert left_beside(path) == []


def test_a_notebook_in_another_language(tmp_path: Path) -> None:
    metadata = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}}
    path = write(tmp_path / "r.ipynb", {**NOTEBOOK, "metadata": metadata})
    assert_one_message(run("export", path, "-o", tmp_path / "out"), 12, "written in R")


def test_a_kernel_that_is_not_installed(tmp_path: Path) -> None:
    metadata = {"kernelspec": {"name": "gone", "language": "python", "display_name": "Gone"}}
    path = write(tmp_path / "gone.ipynb", {**NOTEBOOK, "metadata": metadata})
    assert_one_message(run("export", path, "-o", tmp_path / "out"), 13, "gone")
    assert_one_message(run("baseline", path), 13, "gone")
    assert left_beside(path) == []


def test_a_journal_with_a_foreign_line(notebook: Path, tmp_path: Path) -> None:
    journal = notebook.parent / ".clusterbridge" / notebook.stem / "k.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text(START + "\nhello\n" + START + "\n")
    before = journal.read_bytes()
    assert_one_message(run("check", notebook), 14, "k.jsonl", "line 2")
    assert_one_message(run("export", notebook, "-o", tmp_path / "out"), 14, "line 2")
    assert journal.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_a_torn_last_line_of_a_journal_is_no_error(notebook: Path) -> None:
    journal = notebook.parent / ".clusterbridge" / notebook.stem / "k.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text(START + '\n{"event": "cell_st')
    assert run("check", notebook).returncode == 0


def test_a_folder_that_cannot_be_written(notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    process = run("export", notebook, "-o", tmp_path / "file" / "out", "--python", sys.executable)
    assert_one_message(process, 15, "file")
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_folder_with_files_of_somebody_else_is_not_replaced(notebook: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("three years")
    assert_one_message(run("export", notebook, "-o", folder, "--python", sys.executable), 15, "mine")
    assert (folder / "thesis.txt").read_text() == "three years"
    assert sorted(entry.name for entry in folder.iterdir()) == ["thesis.txt"]


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if made.returncode != 0:
        if os.environ.get("CLUSTERBRIDGE_CI") == "1":
            pytest.fail("a small file system cannot be mounted")
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk(notebook: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as disk:
        process = run("export", notebook, "-o", disk / "out", "--python", sys.executable)
        assert_one_message(process, 16, "no space")
        assert list(disk.iterdir()) == []


def test_an_engine_that_is_down(bundle: Path, tmp_path: Path) -> None:
    env = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    process = run("run", bundle, "--engine", "docker", "--out", tmp_path / "run", env=env)
    assert_one_message(process, 18, "docker")
    assert not (tmp_path / "run").exists()


def test_an_engine_that_nobody_knows(bundle: Path, tmp_path: Path) -> None:
    process = run("run", bundle, "--engine", "abacus", "--out", tmp_path / "run")
    assert_one_message(process, 18, "abacus", "local")


class _Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_registry_that_refuses(notebook: Path, tmp_path: Path) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        image = f"127.0.0.1:{server.server_address[1]}/team/base:1"
        process = run(
            "export", notebook, "-o", tmp_path / "out", "--base-image", image, "--python", sys.executable
        )
    finally:
        server.shutdown()
    assert_one_message(process, 19, image)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the good notebook, made once."""
    folder = tmp_path_factory.mktemp("sealed")
    notebook = write(folder / "notebook.ipynb", NOTEBOOK)
    process = run("export", notebook, "-o", folder / "bundle", "--python", sys.executable)
    assert process.returncode == 0, process.stderr
    return folder / "bundle"


@pytest.fixture
def bundle(sealed: Path, tmp_path: Path) -> Path:
    """A copy of the bundle that a test may damage."""
    copy = tmp_path / "bundle"
    subprocess.run(["cp", "-r", sealed, copy], check=True)
    return copy


def test_a_bundle_edited_by_hand(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "notebook.ipynb"
    path.write_text(path.read_text().replace("print(1)", "print(2)"))
    assert_one_message(run("run", bundle, "--out", tmp_path / "run"), 20, "notebook.ipynb")
    assert not (tmp_path / "run").exists()


def test_a_bundle_of_a_newer_version(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "bundle.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "schema": "clusterbridge/bundle/99"}))
    assert_one_message(run("run", bundle, "--out", tmp_path / "run"), 21, "newer version")


def test_a_folder_that_is_no_bundle(tmp_path: Path) -> None:
    assert_one_message(run("run", tmp_path, "--out", tmp_path / "run"), 23)


def test_a_folder_that_is_no_run(tmp_path: Path, bundle: Path) -> None:
    assert_one_message(run("compare", bundle, tmp_path), 24)


@pytest.mark.parametrize("option", [("--memory", "lots"), ("--time-limit", "soon"), ("--shm-size", "-1g")])
def test_a_size_or_duration_that_cannot_be_read(bundle: Path, tmp_path: Path, option: tuple[str, str]) -> None:
    assert_one_message(run("run", bundle, "--out", tmp_path / "run", *option), 29, option[1])


def test_errors_are_json_where_json_was_asked_for(tmp_path: Path) -> None:
    process = run("check", tmp_path / "none.ipynb", "--format", "json")
    document = json.loads(process.stdout)
    assert process.returncode == document["exit_code"] == 10
    assert document["error"] == "NotebookUnreadable"
    assert document["hint"]


def test_an_unreadable_notebook_does_not_keep_lint_from_the_others(tmp_path: Path, notebook: Path) -> None:
    corrupt = tmp_path / "corrupt.ipynb"
    corrupt.write_text("{")
    process = run("lint", corrupt, notebook, "--format", "json")
    document = json.loads(process.stdout)
    assert process.returncode == 1
    assert document["schema"] == "clusterbridge/lint/1"
    assert {finding["path"] for finding in document["findings"]} == {str(corrupt)}


def test_jupyter_clusterbridge_is_the_same_command() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "jupyter", "clusterbridge", "--version"], capture_output=True, text=True
    )
    assert process.stdout == run("--version").stdout != ""
