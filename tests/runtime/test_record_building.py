"""From journals to a run record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.canonical import digest_bytes, digest_text
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import DocumentInvalid, DocumentTooNew, FolderNotWritable, RunInvalid
from jupyter_clusterbridge.model.events import (
    ArtifactDeclared,
    CellEnd,
    CellStart,
    EnvironmentSeen,
    Event,
    FileRead,
    FileWrite,
    KernelStart,
    Listing,
    MetricLogged,
)
from jupyter_clusterbridge.model.evidence import Row, RowKind, read_rows
from jupyter_clusterbridge.model.notebook import Notebook, notebook_from_json
from jupyter_clusterbridge.runtime.journal import Journal, JournalWriter, read_journal
from jupyter_clusterbridge.runtime.record import BuiltRecord, build_record, read_record

IDS = ("load", "train", "test")


def _notebook(sources: Sequence[str] = ("import x", "train()", "test()"), outputs: object = ()) -> Notebook:
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "id": "title", "source": "# T", "metadata": {}}]
    for cell_id, source in zip(IDS, sources, strict=False):
        cells.append(
            {"cell_type": "code", "id": cell_id, "source": source, "metadata": {}, "outputs": list(outputs)}  # type: ignore[call-overload]
        )
    return notebook_from_json({"nbformat": 4, "metadata": {}, "cells": cells}, Path("nb.ipynb"))


class Kernel:
    """Writes one journal."""

    def __init__(self, folder: Path, name: str = "k1", at: str = "2026-01-01T00:00:00+00:00") -> None:
        self.path = folder / f"{name}.jsonl"
        self._writer = JournalWriter(self.path, lambda error: pytest.fail(str(error)))
        self._writer.write(KernelStart(name, "notebook", "3.11.7", at))
        self._run = 0

    def cell(
        self,
        cell_id: str | None,
        source: str,
        *events: Event,
        rows: Sequence[tuple[RowKind, int, int]] = (),
        status: str | None = "ok",
    ) -> int:
        self._run += 1
        run = self._run
        self._writer.write(CellStart(run, cell_id, source, "2026", {"python": f"before{run}"}))
        for event in events:
            values = {**event.__dict__, "run": run}
            self._writer.write(type(event)(**values))
        for number, (kind, a, b) in enumerate(rows):
            self._writer.row(Row(kind, run, number, a, b))
        if status is not None:
            self._writer.write(CellEnd(run, status, "2026", 0.5, {"python": f"after{run}"}))
        return run

    def journal(self) -> Journal:
        self._writer.flush()
        return read_journal(self.path)


def _rows(built: BuiltRecord, folder: Path) -> list[tuple[str, int, int, int, int]]:
    built.write(folder)
    return [(row.kind.name, row.where, row.ordinal, row.a, row.b) for row in read_rows(folder / "steps.bin")]


def test_cells_stand_in_file_order_with_their_last_run(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "old()")
    kernel.cell("load", "import x")
    kernel.cell("train", "train()", status="error")
    record = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False).record
    assert [(cell.cell_id, cell.cell_index, cell.runs, cell.status) for cell in record.cells] == [
        ("load", 1, 1, "ok"),
        ("train", 2, 2, "error"),
        ("test", 3, 0, None),
    ]
    assert [cell.source_digest for cell in record.cells] == [
        digest_text(source) for source in ("import x", "train()", "test()")
    ]
    assert record.cells[1].rng_before == {"python": "before3"}
    assert record.cells[1].rng_after == {"python": "after3"}
    assert record.cells[1].duration_s == 0.5
    assert record.cells[2].rng_before == {}


def test_the_source_that_ran_counts_and_not_the_one_that_was_saved(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "other()")
    record = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False).record
    assert record.cells[1].source_digest == digest_text("other()")


def test_the_newest_kernel_that_ran_a_cell_counts_for_it(tmp_path: Path) -> None:
    old, new = Kernel(tmp_path, "old", "2026-01-01"), Kernel(tmp_path, "new", "2026-01-02")
    old.cell("load", "import x")
    old.cell("train", "train()", MetricLogged(0, "loss", 1.0), rows=[(RowKind.STEP, 1, 0)])
    old.cell("train", "train()", MetricLogged(0, "loss", 0.5), rows=[(RowKind.STEP, 2, 0)])
    new.cell("train", "train()", MetricLogged(0, "loss", 0.25), rows=[(RowKind.STEP, 1, 0)])
    built = build_record(_notebook(), [new.journal(), old.journal()], role="notebook", outputs=False)
    assert [cell.runs for cell in built.record.cells] == [1, 1, 0]
    assert [metric.value for metric in built.record.metrics] == [0.25]
    assert built.record.steps == 1


def test_runs_without_an_id_are_matched_by_source(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell(None, "train()\n")
    kernel.cell("an-id-of-the-front-end", "import x")
    kernel.cell(None, "something else")
    record = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False).record
    assert [cell.runs for cell in record.cells] == [1, 1, 0]


def test_a_run_in_which_the_kernel_died_counts_as_interrupted(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("load", "import x", status=None)
    (cell, *_rest) = build_record(_notebook(), [kernel.journal()], role="job", outputs=False).record.cells
    assert (cell.status, cell.duration_s) == ("interrupted", None)


def test_rows_are_renumbered_as_a_clean_run_counts_them(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    step, loss, epoch = RowKind.STEP, RowKind.LOSS, RowKind.EPOCH
    kernel.cell("test", "test()", rows=[(epoch, 4, 7), (step, 1, 0)])
    kernel.cell("train", "train()", rows=[(epoch, 1, 0), (step, 2, 0)])
    kernel.cell("train", "train()", rows=[(epoch, 2, 3), (loss, 9, 1), (step, 3, 0), (epoch, 2, 4), (step, 4, 0)])
    built = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False)
    assert _rows(built, tmp_path / "record") == [
        ("EPOCH", 2, 0, 0, 0),
        ("LOSS", 2, 0, 9, 1),
        ("STEP", 2, 0, 1, 0),
        ("EPOCH", 2, 1, 0, 1),
        ("STEP", 2, 1, 2, 0),
        ("EPOCH", 3, 0, 1, 0),
        ("STEP", 3, 0, 3, 0),
    ]
    assert (built.record.steps, built.record.step_rows) == (3, 7)


def test_loaders_of_two_kernels_are_two_loaders(tmp_path: Path) -> None:
    old, new = Kernel(tmp_path, "old", "2026-01-01"), Kernel(tmp_path, "new", "2026-01-02")
    old.cell("train", "train()", rows=[(RowKind.EPOCH, 0, 0)])
    new.cell("test", "test()", rows=[(RowKind.EPOCH, 0, 0)])
    built = build_record(_notebook(), [old.journal(), new.journal()], role="notebook", outputs=False)
    assert [(row[1], row[3]) for row in _rows(built, tmp_path / "record")] == [(2, 0), (3, 1)]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", FileRead(0, "a.csv", 1, "sha256:00"), rows=[(RowKind.STEP, 1, 0)] * 3)
    for name in ("one", "two"):
        build_record(_notebook(), [kernel.journal()], role="notebook", outputs=True).write(tmp_path / name)
    for name in ("record.json", "steps.bin"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_files_listings_and_metrics_come_from_kept_runs_alone(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    listing = Listing(0, "images", 3, "sha256:01", "sha256:02")
    kernel.cell("load", "import x", FileRead(0, "old.csv", 1, "sha256:00"), MetricLogged(0, "m", 1.0))
    kernel.cell("load", "import x", FileRead(0, "new.csv", 2, "sha256:01"), listing, listing)
    kernel.cell("test", "test()", FileRead(0, "new.csv", 2, "sha256:01"), MetricLogged(0, "m", 2.0, 7))
    record = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False).record
    assert [(file.path, file.size, file.digest, file.cell_index) for file in record.files] == [
        ("new.csv", 2, "sha256:01", 1)
    ]
    assert [(found.path, found.cell_index) for found in record.listings] == [("images", 1)]
    assert [(metric.value, metric.step, metric.cell_index) for metric in record.metrics] == [(2.0, 7, 3)]


def test_a_file_that_an_earlier_cell_writes_is_no_data(tmp_path: Path) -> None:
    old, new = Kernel(tmp_path, "old", "2026-01-01"), Kernel(tmp_path, "new", "2026-01-02")
    old.cell("train", "train()", FileWrite(0, "m.pt"))
    new.cell("test", "test()", FileRead(0, "m.pt", 1, "sha256:00"))
    new.cell("load", "import x", FileRead(0, "later.csv", 1, "sha256:00"))
    new.cell("test", "test()", FileRead(0, "m.pt", 1, "sha256:00"), FileWrite(0, "later.csv"))
    record = build_record(_notebook(), [old.journal(), new.journal()], role="notebook", outputs=False).record
    assert [file.path for file in record.files] == ["later.csv"]


def test_a_module_that_only_an_earlier_run_imported_still_counts(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("load", "import x", FileRead(0, "x.py", 1, "sha256:00"), FileRead(0, "a.csv", 1, "sha256:00"))
    kernel.cell("load", "import x")
    record = build_record(_notebook(), [kernel.journal()], role="notebook", outputs=False).record
    assert [(file.path, file.cell_index) for file in record.files] == [("x.py", 1)]


def test_the_newest_environment_counts(tmp_path: Path) -> None:
    old, new = Kernel(tmp_path, "old", "2026-01-01"), Kernel(tmp_path, "new", "2026-01-02")
    new.cell("load", "import x", EnvironmentSeen(0, Environment("3.11.7")))
    new.cell("load", "import x", EnvironmentSeen(0, Environment("3.12.0")))
    old.cell("load", "import x", EnvironmentSeen(0, Environment("3.10.0")))
    record = build_record(_notebook(), [new.journal(), old.journal()], role="notebook", outputs=False).record
    assert record.environment is not None
    assert record.environment.python == "3.12.0"


def test_artifacts_are_looked_for_below_their_root_and_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "work"
    (root / "model").mkdir(parents=True)
    (root / "m.pt").write_bytes(b"weights")
    (root / "model" / "config.json").write_bytes(b"{}")
    (tmp_path / "secret").write_bytes(b"no")
    (root / "link").symlink_to(tmp_path / "secret")
    kernel = Kernel(tmp_path)
    names = ("m.pt", "m.pt", "model", "gone", "../secret", str(tmp_path / "secret"), "link")
    kernel.cell("train", "train()", *(ArtifactDeclared(0, name) for name in names))
    journal = kernel.journal()
    found = build_record(_notebook(), [journal], role="job", outputs=False, artifacts_root=root).record.artifacts
    assert [(one.path, one.size) for one in found] == [
        ("m.pt", 7),
        ("model", 2),
        ("gone", None),
        ("../secret", None),
        (str(tmp_path / "secret"), None),
        ("link", None),
    ]
    assert found[0].digest == digest_bytes(b"weights")
    assert found[4].digest is None


def test_outputs_count_only_where_they_are_those_of_the_runs(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("load", "import x")
    notebook = _notebook(outputs=[{"output_type": "stream", "name": "stdout", "text": "accuracy 0.5"}])
    journals = [kernel.journal()]
    with_outputs = build_record(notebook, journals, role="notebook", outputs=True).record
    without = build_record(notebook, journals, role="notebook", outputs=False).record
    assert with_outputs.cells[0].output_digest is not None
    assert without.cells[0].output_digest is None
    assert with_outputs.cells[1].output_digest is None


@pytest.mark.parametrize(
    "source", ["%load_ext clusterbridge", "%clusterbridge status", "%reload_ext jupyter_clusterbridge"]
)
def test_what_our_own_magics_print_does_not_count(tmp_path: Path, source: str) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("load", source)
    notebook = _notebook((source,), outputs=[{"output_type": "stream", "name": "stdout", "text": "hello"}])
    (cell,) = build_record(notebook, [kernel.journal()], role="notebook", outputs=True).record.cells
    assert cell.output_digest is None


def test_a_notebook_without_journals_gives_a_record_of_cells_that_never_ran() -> None:
    record = build_record(_notebook(), [], role="notebook", outputs=True).record
    assert [cell.status for cell in record.cells] == [None, None, None]
    assert record.environment is None
    assert record.step_rows == 0


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", MetricLogged(0, "loss", float("nan")), rows=[(RowKind.STEP, 1, 0)])
    built = build_record(_notebook(), [kernel.journal()], role="job", outputs=True, parameters={"SEED": 1})
    built.write(tmp_path / "record")
    record, steps = read_record(tmp_path / "record")
    assert record.parameters == {"SEED": 1}
    assert str(record.metrics[0].value) == "nan"
    assert record.cells == built.record.cells
    assert steps == tmp_path / "record" / "steps.bin"


def test_writing_a_record_without_rows_removes_an_old_steps_file(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", rows=[(RowKind.STEP, 1, 0)])
    build_record(_notebook(), [kernel.journal()], role="job", outputs=True).write(tmp_path / "record")
    build_record(_notebook(), [], role="job", outputs=True).write(tmp_path / "record")
    assert read_record(tmp_path / "record")[1] is None


def test_a_torn_last_row_is_dropped(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", rows=[(RowKind.STEP, 1, 0)] * 2)
    journal = kernel.journal()
    journal.steps_path.write_bytes(journal.steps_path.read_bytes()[:-5])
    built = build_record(_notebook(), [journal], role="job", outputs=True)
    assert built.record.step_rows == len(_rows(built, tmp_path / "record")) == 1


def test_a_foreign_steps_file_is_refused(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", rows=[(RowKind.STEP, 1, 0)])
    journal = kernel.journal()
    journal.steps_path.write_bytes(b"something else altogether")
    with pytest.raises(DocumentInvalid, match="not a steps file"):
        build_record(_notebook(), [journal], role="job", outputs=True)


def test_folders_without_a_readable_record_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunInvalid, match="holds no run record"):
        read_record(tmp_path / "nowhere")
    (tmp_path / "record.json").write_text("{")
    with pytest.raises(RunInvalid, match="is no run record"):
        read_record(tmp_path)
    build_record(_notebook(), [], role="job", outputs=True).write(tmp_path)
    data = json.loads((tmp_path / "record.json").read_text())
    (tmp_path / "record.json").write_text(json.dumps({**data, "step_rows": 5}))
    with pytest.raises(RunInvalid, match=r"steps\.bin is missing"):
        read_record(tmp_path)
    (tmp_path / "record.json").write_text(json.dumps({**data, "schema": "clusterbridge/record/2"}))
    with pytest.raises(DocumentTooNew):
        read_record(tmp_path)


def test_a_folder_that_cannot_be_made_ends_in_an_error_of_ours(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.cell("train", "train()", rows=[(RowKind.STEP, 1, 0)])
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderNotWritable):
        build_record(_notebook(), [kernel.journal()], role="job", outputs=True).write(tmp_path / "file" / "record")
