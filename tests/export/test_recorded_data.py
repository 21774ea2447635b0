"""What the session read, against what is on the disk and what the text names."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.export.data import DataPlan, DataPlanner, written_first
from jupyter_clusterbridge.export.project import ProjectFinder
from jupyter_clusterbridge.model.canonical import digest_bytes
from jupyter_clusterbridge.model.events import FileRead, FileWrite, KernelStart
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.model.record import FileRecord, ListingRecord, RunRecord
from jupyter_clusterbridge.runtime.journal import Journal


def plan(path: Path, *files: FileRecord, listings: tuple[ListingRecord, ...] = ()) -> DataPlan:
    notebook = read_notebook(path)
    record = RunRecord("notebook", (), None, files=files, listings=listings)
    return DataPlanner(notebook, ProjectFinder(notebook).find(), record, ()).plan()


def read(path: str, data: bytes = b"1", cell: int = 0) -> FileRecord:
    return FileRecord(path, len(data), digest_bytes(data), cell)


@pytest.fixture
def notebook(make_notebook: Any) -> Path:
    path = make_notebook("names = make_names()\nopen('/srv/data/set/a.csv')\nopen('../beside/b.csv')")
    (path.parent / "data.csv").write_bytes(b"1")
    return path


def test_a_file_that_only_the_session_names_is_shipped(notebook: Path) -> None:
    found = plan(notebook, read("data.csv"))
    assert list(found.ship) == ["data.csv"]
    assert found.declared == [read("data.csv")]


def test_a_file_that_changed_since_is_shipped_as_it_is_with_a_warning(notebook: Path) -> None:
    found = plan(notebook, read("data.csv", b"0"))
    assert found.declared == [read("data.csv")]
    assert found.warnings == ["data.csv has changed since the notebook read it."]


def test_a_file_that_is_gone_stays_declared(notebook: Path) -> None:
    found = plan(notebook, read("gone.csv"))
    assert found.declared == [read("gone.csv")]
    assert "is gone" in found.warnings[0]


def test_a_module_that_the_session_read_counts_as_code(notebook: Path) -> None:
    (notebook.parent / "plugin.py").write_bytes(b"1")
    found = plan(notebook, read("plugin.py"))
    assert (list(found.ship), found.declared) == (["plugin.py"], [])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/data/set/a.csv", ["/srv/data/set/a.csv"]),
        ("/srv/other/secret-project.csv", []),
        ("~/.cache/library/weights.bin", []),
        ("/usr/share/zoneinfo/UTC", []),
        (".venv/lib/site-packages/sklearn/digits.csv", []),
        ("env/lib/python3.11/site-packages/sklearn/digits.csv", []),
    ],
)
def test_outside_of_the_folder_only_what_the_text_names_is_declared(
    notebook: Path, path: str, expected: list[str]
) -> None:
    found = plan(notebook, read(path))
    assert [file.path for file in found.declared] == expected
    assert found.ship == {}
    assert path.rsplit("/", 1)[-1] not in "".join(found.warnings) or expected


def test_a_path_that_was_recorded_absolute_is_named_as_the_text_names_it(notebook: Path) -> None:
    beside = notebook.parent.parent / "beside" / "b.csv"
    beside.parent.mkdir()
    beside.write_bytes(b"1")
    found = plan(notebook, read(str(beside)))
    assert [file.path for file in found.declared] == ["../beside/b.csv"]


def test_listings_outside_of_the_folder_that_no_cell_names_are_left_out(notebook: Path) -> None:
    inside = ListingRecord("data", 2, "o", "s", 0)
    outside = dataclasses.replace(inside, path="/home/someone/private")
    assert plan(notebook, listings=(inside, outside)).listings == [inside]


def test_a_file_without_permission_is_named(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_clusterbridge.model.errors import NotebookUnreadable

    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(NotebookUnreadable, match=r"data\.csv.*cannot be read"):
        plan(notebook, read("data.csv"))


def test_what_the_newest_session_wrote_first_is_a_product() -> None:
    start = KernelStart("k", "notebook", "3.11.7", "2026-01-01T00:00:00+00:00")

    def journal(*events: Any) -> Journal:
        return Journal(Path("k.jsonl"), (start, *events))

    old = journal(FileWrite(1, "a"), FileRead(2, "b", 1, None), FileWrite(3, "c"))
    new = journal(FileRead(1, "a", 1, None), FileWrite(2, "a"), FileWrite(3, "b"))
    assert written_first([old, new]) == {"b", "c"}
