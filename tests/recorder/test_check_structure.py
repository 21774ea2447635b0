"""Cells that were deleted, inserted, moved, split and merged, with ids and without."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.recorder.check import unreachable_reasons

WITH_AND_WITHOUT_IDS = pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])


@pytest.fixture
def make(bench):
    """Makes a bench whose front end sends ids or does not."""

    def made(ids, *sources):
        one = bench(*sources)
        run_cell = one.shell.run_cell
        if not ids:
            one.shell.run_cell = lambda source, store_history, cell_id: run_cell(
                source, store_history=store_history
            )
        return one

    return made


def assert_current(one):
    report = one.check()
    assert {cell.state.value for cell in report.cells} == {"current"}, report.cells
    assert [i.kind.value for i in report.interventions] == []
    assert unreachable_reasons(report) == ()


@WITH_AND_WITHOUT_IDS
def test_the_state_of_a_deleted_cell_lives_on_until_its_names_are_overwritten(make, ids):
    one = make(ids, "x = 1", "x = 50\nw = 2", "y = x", "x = 7", "z = x").run(*"abc").delete("b").run(*"de")
    assert one.states() == "cdcc"
    assert "is not in the saved file" in one.cell("c").reasons[0].message
    # without ids nobody can tell `x = 50`, deleted, from an older text of `x = 7`
    assert one.kinds() == (["deleted_cell_state"] if ids else ["edited_rerun"])
    assert one.run("a", "c").cell("c").state.value == "current"


@WITH_AND_WITHOUT_IDS
def test_the_state_of_a_deleted_cell_ends_with_the_kernel(make, ids):
    one = make(ids, "x = 1", "x = 50", "y = x").run("*").delete("b")
    assert one.states() == "cd"
    one.restart()
    assert one.run("*").states() == "cc"
    assert "deleted_cell_state" not in one.kinds()


@WITH_AND_WITHOUT_IDS
def test_a_deleted_cell_that_accumulated_is_named_by_what_it_changed(make, ids):
    one = make(ids, "xs = []", "xs.append(1)", "n = len(xs)").run("*").delete("b")
    assert one.states() == "cd"
    reason = one.cell("c").reasons[0]
    assert (reason.name, reason.remedy) == ("xs", "run cell 0 first, then this cell")


@WITH_AND_WITHOUT_IDS
def test_an_inserted_cell_that_never_ran_diverges_those_whose_inputs_it_would_change(make, ids):
    one = make(ids, "x = 1", "y = x", "z = 3").run("*")
    one.cells = {"a": "x = 1", "new": "x = 2", "b": "y = x", "c": "z = 3"}
    assert one.states() == "cndc"
    assert one.cell("b").reasons[0].message == "`x` was set by cell 0 above; a clean run takes it from cell 1"
    assert one.cell("b").reasons[0].remedy == "run cell 1 first, then this cell"


@WITH_AND_WITHOUT_IDS
def test_an_inserted_cell_that_touches_nothing_leaves_the_others_current(make, ids):
    one = make(ids, "x = 1", "y = x").run("*")
    one.cells = {"a": "x = 1", "new": "print('hello')", "b": "y = x"}
    assert one.states() == "cnc"


@WITH_AND_WITHOUT_IDS
def test_a_cell_moved_above_what_it_reads_diverges(make, ids):
    one = make(ids, "x = 1", "x = x + 1", "y = x").run("*")
    one.cells = {key: one.cells[key] for key in "acb"}
    assert one.states() == "cdc"
    assert "by cell 2 below" in one.cell("c").reasons[0].message
    assert one.cell("c").reasons[0].remedy == "run cell 0 first, then this cell"


@WITH_AND_WITHOUT_IDS
def test_moving_cells_that_do_not_touch_each_other_changes_nothing(make, ids):
    one = make(ids, "x = 1", "y = 2", "z = x + y").run("*")
    one.cells = {key: one.cells[key] for key in "bac"}
    assert {cell.state.value for cell in one.check().cells} == {"current"}


@WITH_AND_WITHOUT_IDS
@pytest.mark.parametrize("order", [("a", "new"), ("new", "a"), ("new", "other")])
def test_a_split_cell_is_current_where_its_parts_ran_as_one(make, ids, order):
    one = make(ids, "xs = [1]\nxs.append(2)\n# more\nn = len(xs)\nprint(n)", "m = n + 1").run("*")
    one.cells = {order[0]: "xs = [1]\nxs.append(2)", order[1]: "n = len(xs)\nprint( n )", "b": "m = n + 1"}
    assert_current(one)


@WITH_AND_WITHOUT_IDS
def test_a_part_of_a_split_cell_runs_on_its_own(make, ids):
    one = make(ids, "xs = [1]\nxs.append(2)", "m = len(xs)").run("*")
    one.cells = {"a": "xs = [1]", "new": "xs.append(2)", "b": "m = len(xs)"}
    assert one.states() == "ccc"
    assert [cell.unsafe_to_rerun for cell in one.check().cells] == [False, True, False]
    assert one.run("new", "b").states() == "cdd"
    assert one.cell("new").reasons[0].remedy == "run cell 0 first, then this cell"


@WITH_AND_WITHOUT_IDS
def test_a_part_that_was_edited_after_the_split_is_not_taken_for_run(make, ids):
    one = make(ids, "x = 1\ny = 2", "z = x + y").run("*")
    one.cells = {"a": "x = 1", "new": "y = 3", "b": "z = x + y"}
    assert one.cell("b").state.value == "diverged"
    assert one.cell("new").state.value != "current"


@WITH_AND_WITHOUT_IDS
@pytest.mark.parametrize("kept", ["a", "b", "new"])
def test_a_merged_cell_is_current_where_its_parts_ran_one_after_the_other(make, ids, kept):
    one = make(ids, "xs = [1]", "xs.append(2)  # more", "n = len(xs)").run("*")
    one.cells = {kept: "xs = [1]\nxs.append(2)", "c": "n = len(xs)"}
    assert_current(one)
    assert not one.check().cells[0].unsafe_to_rerun
    assert {cell.state.value for cell in one.run(kept, "c").check().cells} == {"current"}


@WITH_AND_WITHOUT_IDS
def test_a_merged_cell_whose_parts_ran_in_another_way_diverges(make, ids):
    one = make(ids, "xs = [1]", "xs.append(2)", "n = len(xs)").run(*"abbc")
    one.cells = {"a": "xs = [1]\nxs.append(2)", "c": "n = len(xs)"}
    assert one.states() == "dd"
    assert one.cell("c").reasons[0].remedy == "run cell 0 first, then this cell"


@WITH_AND_WITHOUT_IDS
def test_a_merged_cell_with_more_than_what_ran_is_not_current(make, ids):
    one = make(ids, "x = 1", "y = 2").run("*")
    one.cells = {"a": "x = 1\ny = 2\nz = 3"}
    assert one.check().cells[0].state.value in ("edited", "never_run")


def test_equal_statements_in_other_cells_do_not_draw_runs_to_them(make):
    one = make(True, "xs = [1]\ny = 1", "n = len(xs)\ny = 2", "y = 2\nxs.append(1)", "y = 2", "m = y").run("*")
    one.cells = {
        "a": "xs = [1]", "a2": "y = 1", "b": "n = len(xs)", "b2": "y = 2",
        "c": "y = 2", "c2": "xs.append(1)", "d": "y = 2\nm = y",
    }  # fmt: skip
    assert_current(one)


@WITH_AND_WITHOUT_IDS
def test_a_random_stream_goes_through_a_split(make, ids):
    one = make(ids, "import random\nrandom.seed(1)\na = random.random()", "b = random.random()").run("*")
    one.cells = {"a": "import random\nrandom.seed(1)", "new": "a = random.random()", "b": "b = random.random()"}
    assert_current(one)


def test_without_ids_an_edited_cell_is_known_by_its_likeness(make):
    one = (
        make(False, "rate = 0.1", "model = [rate] * 3", "loss = sum(model)")
        .run("*")
        .edit("b", "model = [rate] * 4")
    )
    assert one.states() == "ced"
    assert one.cell("c").reasons[0].message == "`model` came from cell 1 before it was edited"
    assert one.run("b", "c").states() == "ccc"
    assert one.kinds() == ["edited_rerun", "rerun"]


def test_without_ids_a_cell_like_another_that_was_deleted_is_no_version_of_it(make):
    one = make(False, "rate = 0.1", "rate = 0.2", "model = rate").run("*").delete("b")
    assert one.states() == "cd"
    assert "is not in the saved file" in one.cell("c").reasons[0].message


def test_ids_of_another_kind_than_the_files_are_matched_by_source(bench):
    one = bench("x = 1", "x = x + 1", "y = x")
    for cell_id in "abbc":
        one.shell.run_cell(
            one.cells[cell_id], store_history=True, cell_id=f"vscode-notebook-cell:/n.ipynb#{cell_id}"
        )
    assert one.states() == "cdd"
    assert one.edit("a", "x = 5").states() == "edd"
