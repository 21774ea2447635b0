"""The verdict on pairs of records: the first link is the cause, and equal runs are never called different."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from verdict_records import StepsWriter, training_rows

from jupyter_clusterbridge.model.environment import Distribution
from jupyter_clusterbridge.model.evidence import Row, RowKind, loss_bits
from jupyter_clusterbridge.model.record import MetricRecord, RunRecord
from jupyter_clusterbridge.model.run import RunState, RunStatus
from jupyter_clusterbridge.model.verdict import Comparison, Link, Verdict
from jupyter_clusterbridge.verdict.compare import Side, compare_sides

Change = Callable[[RunRecord], RunRecord]


def compare(baseline: RunRecord, run: RunRecord, *steps: Path) -> Comparison:
    one, two = steps or (None, None)
    status = RunStatus(RunState.SUCCEEDED, 0, "All cells ran.")
    return compare_sides(Side(baseline, one), Side(run, two, status))


def replace_cell(record: RunRecord, index: int, **changes: object) -> RunRecord:
    cells = list(record.cells)
    cells[index] = dataclasses.replace(cells[index], **changes)
    return dataclasses.replace(record, cells=tuple(cells))


def with_package(record: RunRecord, name: str, version: str) -> RunRecord:
    assert record.environment is not None
    packages = tuple(
        Distribution(p.name, version if p.name == name else p.version, loaded=p.loaded)
        for p in record.environment.distributions
    )
    environment = dataclasses.replace(record.environment, distributions=packages)
    return dataclasses.replace(record, environment=environment)


def test_equal_records_are_the_same_model(record: RunRecord, write_steps: StepsWriter) -> None:
    one, two = write_steps("a", training_rows()), write_steps("b", training_rows())
    found = compare(record, record, one, two)
    assert found.verdict is Verdict.SAME
    assert found.first_difference is None
    assert "21 rows of step evidence" in found.summary


def test_a_stream_that_nobody_moved_is_not_compared(record: RunRecord) -> None:
    run = record
    for index in range(4):
        cell = run.cells[index]
        before, after = dict(cell.rng_before), dict(cell.rng_after)
        before["python"] = after["python"] = "other entropy"
        run = replace_cell(run, index, rng_before=before, rng_after=after)
    assert compare(record, run).verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("link", "change"),
    [
        (Link.CODE, lambda r: replace_cell(r, 2, source_digest="sha256:other")),
        (Link.CODE, lambda r: dataclasses.replace(r, parameters={"SEED": 1})),
        (Link.ENVIRONMENT, lambda r: with_package(r, "numpy", "2.0.1")),
        (
            Link.DATA_FILE,
            lambda r: dataclasses.replace(r, files=(dataclasses.replace(r.files[0], digest="sha256:bb"),)),
        ),
        (
            Link.LISTING_ORDER,
            lambda r: dataclasses.replace(
                r, listings=(dataclasses.replace(r.listings[0], order_digest="sha256:other"),)
            ),
        ),
        (Link.RNG, lambda r: replace_cell(r, 0, rng_after={"torch": "other", "python": "entropy"})),
        (Link.METRIC, lambda r: dataclasses.replace(r, metrics=(MetricRecord("accuracy", 0.9, None, 3),))),
    ],
)
def test_one_change_names_its_own_link(record: RunRecord, link: Link, change: Change) -> None:
    if link is Link.RNG:
        record = dataclasses.replace(record, metrics=())
    found = compare(record, change(record))
    assert found.verdict is Verdict.DIFFERENT
    assert found.first_difference is not None
    assert found.first_difference.link is link


def test_a_package_that_neither_process_loaded_does_not_decide(record: RunRecord) -> None:
    assert compare(record, with_package(record, "unused", "2.0")).verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("link", "changes"),
    [
        (Link.INDEX_ORDER, {"index": 11, "content": 21}),
        (Link.BATCH_CONTENT, {"content": 21}),
        (Link.INITIAL_WEIGHTS, {"weights": 8}),
    ],
)
def test_the_first_differing_row_names_its_link(
    record: RunRecord, write_steps: StepsWriter, link: Link, changes: dict[str, int]
) -> None:
    one, two = write_steps("a", training_rows()), write_steps("b", training_rows(**changes))
    found = compare(record, record, one, two)
    assert found.first_difference is not None
    assert found.first_difference.link is link


def test_a_batch_is_named_by_epoch_and_place_in_it(record: RunRecord, write_steps: StepsWriter) -> None:
    rows = training_rows()
    fifth = next(i for i, row in enumerate(rows) if row.kind is RowKind.BATCH and row.ordinal == 4)
    changed = [*rows[:fifth], dataclasses.replace(rows[fifth], a=99), *rows[fifth + 1 :]]
    found = compare(record, record, write_steps("a", rows), write_steps("b", changed))
    assert found.first_difference is not None
    assert found.first_difference.where == "cell 3, epoch 1, batch 1"


def test_a_run_with_fewer_steps_differs_at_the_first_missing_one(
    record: RunRecord, write_steps: StepsWriter
) -> None:
    rows = training_rows()
    found = compare(record, record, write_steps("a", rows), write_steps("b", rows[:10]))
    assert found.verdict is Verdict.DIFFERENT


def test_a_seed_changed_in_an_early_cell_is_named_before_the_order_it_causes(
    record: RunRecord, write_steps: StepsWriter
) -> None:
    run = replace_cell(record, 0, rng_after={"torch": "other", "python": "entropy"})
    one, two = write_steps("a", training_rows()), write_steps("b", training_rows(index=50, content=70))
    found = compare(record, run, one, two)
    assert found.first_difference is not None
    assert found.first_difference.link is Link.RNG
    assert found.first_difference.where == "cell 0, stream torch"


def test_thread_counts_are_blamed_only_where_numbers_differ(record: RunRecord, write_steps: StepsWriter) -> None:
    assert record.environment is not None
    other = dataclasses.replace(record, environment=dataclasses.replace(record.environment, threads={"torch": 1}))
    assert compare(record, other).verdict is Verdict.SAME
    rows = training_rows()
    changed = [
        dataclasses.replace(row, a=loss_bits(0.123)) if row.kind is RowKind.LOSS and row.ordinal == 5 else row
        for row in rows
    ]
    found = compare(record, other, write_steps("a", rows), write_steps("b", changed))
    assert found.first_difference is not None
    assert found.first_difference.link is Link.ENVIRONMENT
    assert found.first_difference.where == "thread count torch"


def test_without_a_baseline_nothing_can_be_told(record: RunRecord) -> None:
    found = compare_sides(Side(None), Side(record))
    assert found.verdict is Verdict.CANNOT_TELL
    assert "no baseline" in found.summary


def test_a_failed_run_with_equal_evidence_cannot_be_judged(record: RunRecord) -> None:
    status = RunStatus(RunState.FAILED, 40, "Cell 3 raised ValueError.")
    found = compare_sides(Side(record), Side(record, None, status))
    assert found.verdict is Verdict.CANNOT_TELL
    assert "Cell 3 raised ValueError." in found.summary


def test_unreachable_baselines_are_named_first(record: RunRecord) -> None:
    baseline = dataclasses.replace(record, unreachable=("Cell 2 ran three times and accumulates.",))
    found = compare(baseline, replace_cell(record, 2, source_digest="sha256:other"))
    assert found.summary.startswith("The notebook's session is not one that a clean run can reach.")
    assert "Cell 2 ran three times and accumulates." in found.notes


def test_printed_text_decides_only_without_numbers(record: RunRecord) -> None:
    one = replace_cell(record, 1, output_digest="sha256:one")
    two = replace_cell(record, 1, output_digest="sha256:two")
    equal = compare(one, two)
    assert equal.verdict is Verdict.SAME
    assert "printed text" not in equal.summary
    assert "the printed text" in compare(one, one).summary
    bare_one, bare_two = (dataclasses.replace(r, metrics=()) for r in (one, two))
    found = compare(bare_one, bare_two)
    assert found.first_difference is not None
    assert found.first_difference.link is Link.OUTPUT


def test_every_difference_is_listed_in_causal_order(record: RunRecord) -> None:
    run = with_package(replace_cell(record, 2, source_digest="sha256:x"), "torch", "2.12.0")
    found = compare(record, run)
    assert [d.link for d in found.differences] == [Link.CODE, Link.ENVIRONMENT]


def test_nan_losses_that_are_equal_are_equal(record: RunRecord, write_steps: StepsWriter) -> None:
    rows = [Row(RowKind.LOSS, 3, 0, loss_bits(float("nan")), 0)]
    assert compare(record, record, write_steps("a", rows), write_steps("b", rows)).verdict is Verdict.SAME


def with_draws(record: RunRecord, index: int, stream: str, before: str, after: str) -> RunRecord:
    cell = record.cells[index]
    return replace_cell(
        record,
        index,
        rng_before={**cell.rng_before, stream: before},
        rng_after={**cell.rng_after, stream: after},
        output_digest="sha256:text",
    )


def test_an_unseeded_draw_of_a_library_does_not_decide_where_the_printed_text_is_equal(record: RunRecord) -> None:
    bare = dataclasses.replace(record, metrics=())
    one, two = with_draws(bare, 0, "python", "e1", "e2"), with_draws(bare, 0, "python", "f1", "f2")
    found = compare(one, two)
    assert found.verdict is Verdict.SAME
    assert any("stream python" in note for note in found.notes)


@pytest.mark.parametrize(("stream", "before"), [("numpy", ("e1", "f1")), ("python", ("seeded", "seeded"))])
def test_other_draws_decide_where_only_printed_text_is_equal(
    record: RunRecord, stream: str, before: tuple[str, str]
) -> None:
    bare = dataclasses.replace(record, metrics=())
    one, two = with_draws(bare, 0, stream, before[0], "a"), with_draws(bare, 0, stream, before[1], "b")
    found = compare(one, two)
    assert found.first_difference is not None
    assert found.first_difference.link is Link.RNG


def test_no_stream_decides_where_every_recorded_number_is_equal(record: RunRecord) -> None:
    one, two = with_draws(record, 0, "numpy", "e1", "a"), with_draws(record, 0, "numpy", "f1", "b")
    assert compare(one, two).verdict is Verdict.SAME


def test_steps_are_held_against_those_of_the_same_cell_where_an_injected_one_moved_it(
    record: RunRecord, write_steps: StepsWriter
) -> None:
    moved = tuple(
        dataclasses.replace(cell, cell_index=cell.cell_index + (cell.cell_index > 0)) for cell in record.cells
    )
    run = dataclasses.replace(record, cells=moved, parameters={"SEED": 1})
    one, two = write_steps("a", training_rows()), write_steps("b", training_rows(cell=4))
    assert [difference.link for difference in compare(record, run, one, two).differences] == [Link.CODE]
    three = write_steps("c", training_rows(cell=4, content=21))
    found = compare(record, run, one, three)
    assert [difference.link for difference in found.differences] == [Link.CODE, Link.BATCH_CONTENT]
    assert found.differences[1].where == "cell 3, epoch 0, batch 0"
