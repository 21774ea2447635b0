"""Cells that were moved, cells that ended early on one side, and what one side alone recorded."""

from __future__ import annotations

import dataclasses

import pytest
from verdict_records import StepsWriter, training_rows

from jupyter_clusterbridge.model.record import ArtifactRecord, FileRecord, MetricRecord, RunRecord
from jupyter_clusterbridge.model.run import RunState, RunStatus
from jupyter_clusterbridge.model.verdict import Comparison, Link, Verdict
from jupyter_clusterbridge.verdict.compare import Side, compare_sides

FAILED = RunStatus(RunState.FAILED, 40, "cell 3 raised RuntimeError.")


def compare(baseline: RunRecord, run: RunRecord, status: RunStatus | None = None) -> Comparison:
    return compare_sides(Side(baseline), Side(run, None, status))


def ended(record: RunRecord, status: str, **changes: object) -> RunRecord:
    """The record with its last cell ended in another way."""
    last = dataclasses.replace(record.cells[3], status=status, rng_after={"torch": "half", "python": "entropy"})
    return dataclasses.replace(record, cells=(*record.cells[:3], last), **changes)  # type: ignore[arg-type]


def first_link(found: Comparison) -> Link | None:
    return found.first_difference.link if found.first_difference else None


def test_a_moved_cell_is_another_code(record: RunRecord) -> None:
    one, two = record.cells[1], record.cells[2]
    cells = (
        record.cells[0],
        dataclasses.replace(two, cell_index=1),
        dataclasses.replace(one, cell_index=2),
        record.cells[3],
    )
    found = compare(record, dataclasses.replace(record, cells=cells))
    assert found.first_difference is not None
    assert (found.first_difference.link, found.first_difference.where) == (Link.CODE, "order of cells 1 and 2")
    assert len(found.differences) == 1


def test_cells_below_an_added_one_are_not_moved(record: RunRecord) -> None:
    new = dataclasses.replace(record.cells[0], cell_id="new", source_digest="sha256:new")
    below = [dataclasses.replace(cell, cell_index=cell.cell_index + 1) for cell in record.cells]
    found = compare(record, dataclasses.replace(record, cells=(new, *below)))
    assert [one.baseline for one in found.differences] == ["no such cell"]


@pytest.mark.parametrize(("path", "link"), [("helper.py", Link.CODE), ("d.csv", Link.DATA_FILE)])
def test_a_local_module_is_code(record: RunRecord, path: str, link: Link) -> None:
    one = dataclasses.replace(record, files=(FileRecord(path, 1, "sha256:a", 1),))
    two = dataclasses.replace(record, files=(FileRecord(path, 1, "sha256:b", 1),))
    assert first_link(compare(one, two)) is link


def test_values_that_only_the_run_logged_are_a_difference(record: RunRecord) -> None:
    more = dataclasses.replace(record, metrics=(*record.metrics, MetricRecord("accuracy", 0.96, None, 3)))
    other = dataclasses.replace(record, metrics=(*record.metrics, MetricRecord("recall", 0.5, None, 3)))
    assert first_link(compare(record, more)) is Link.METRIC
    assert first_link(compare(record, other)) is Link.METRIC


def test_a_run_that_was_cut_off_is_not_blamed_for_what_it_could_not_do(
    record: RunRecord, write_steps: StepsWriter
) -> None:
    baseline = dataclasses.replace(record, artifacts=(ArtifactRecord("m.bin", 1, "sha256:m"),))
    run = ended(record, "error", metrics=(), artifacts=(ArtifactRecord("m.bin", None, None),))
    rows = training_rows()
    steps = (write_steps("a", rows), write_steps("b", rows[:10]))
    found = compare_sides(Side(baseline, steps[0]), Side(run, steps[1], FAILED))
    assert (found.verdict, found.differences) == (Verdict.CANNOT_TELL, ())


def test_what_a_run_did_before_it_was_cut_off_counts(record: RunRecord, write_steps: StepsWriter) -> None:
    steps = (write_steps("a", training_rows()), write_steps("b", training_rows(weights=8)[:10]))
    found = compare_sides(Side(record, steps[0]), Side(ended(record, "error"), steps[1], FAILED))
    assert first_link(found) is Link.INITIAL_WEIGHTS


def test_a_baseline_that_was_cut_off_cannot_be_judged_against(record: RunRecord) -> None:
    found = compare(ended(record, "interrupted", metrics=()), record)
    assert found.verdict is Verdict.CANNOT_TELL
    assert "cell 3 ended with interrupted in the baseline" in found.summary


def test_an_artifact_still_counts_where_the_run_finished_more_than_the_baseline(record: RunRecord) -> None:
    idle = dataclasses.replace(record.cells[3], status=None, rng_after=record.cells[3].rng_before)
    one = dataclasses.replace(record, metrics=(), artifacts=(ArtifactRecord("m.bin", 1, "sha256:m"),))
    two = dataclasses.replace(one, artifacts=(ArtifactRecord("m.bin", 1, "sha256:n"),))
    assert first_link(compare(dataclasses.replace(one, cells=(*one.cells[:3], idle)), two)) is Link.OUTPUT


def test_an_unseeded_library_loaded_by_the_cell_that_logs_is_named(record: RunRecord) -> None:
    def drawn(state: str, value: float) -> RunRecord:
        last = dataclasses.replace(record.cells[3], rng_after={**record.cells[3].rng_after, "numpy": state})
        metrics = (MetricRecord("loss", value, 0, 3),)
        return dataclasses.replace(record, cells=(*record.cells[:3], last), metrics=metrics)

    assert first_link(compare(drawn("a", 0.1), drawn("b", 0.2))) is Link.RNG
    assert compare(drawn("a", 0.1), drawn("b", 0.1)).verdict is Verdict.SAME
    other = dataclasses.replace(drawn("b", 0.2), parameters={"SEED": 1})
    assert [one.link for one in compare(drawn("a", 0.1), other).differences] == [Link.CODE, Link.METRIC]


def test_only_files_that_both_sides_read_are_called_equal(record: RunRecord) -> None:
    one = dataclasses.replace(record, files=(*record.files, FileRecord("x.csv", 1, "sha256:x", 1)))
    assert "1 data file and" in compare(one, record).summary
