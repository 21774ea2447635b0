"""What a person did, once for each cause, with a remedy."""

from __future__ import annotations


def test_an_edited_rerun_names_the_old_and_the_new_value(bench):
    one = bench("x = 1", "lr = 0.1").run("*").run("b").edit("b", "lr = 0.01").run("b")
    (edit,) = [i for i in one.check().interventions if i.kind.value == "edited_rerun"]
    assert edit.message == "cell 1 changed `lr = 0.1` to `0.01` between runs 2 and 3"
    assert edit.remedy == "make it a parameter"
    assert edit.cell_id == "b"
    assert edit.at


def test_a_cell_first_run_after_one_below_it_is_out_of_order(bench):
    one = bench("x = 1", "y = 2").run("b", "a")
    (found,) = one.check().interventions
    assert (found.kind.value, found.cell_id) == ("out_of_order", "a")
    assert found.message == "cell 0 ran after cell 1, which stands below it"


def test_a_rerun_says_whether_it_mattered(bench):
    one = bench("x = 0", "x += 1", "y = 5").run(*"abbcc")
    by_cell = {i.cell_id: i for i in one.check().interventions}
    assert by_cell["b"].message == "cell 1 ran 2 times and changed `x` each time"
    assert by_cell["c"].message == "cell 2 ran 2 times"
    assert "nothing to do" in by_cell["c"].remedy


def test_a_failed_run_is_told_with_the_class_of_its_error_alone(bench):
    one = bench("raise ValueError('not for you')").run("a", "a")
    (failed,) = [i for i in one.check().interventions if i.kind.value == "failed_run"]
    assert failed.message == "cell 0 failed with ValueError, 2 times"
    assert "not for you" not in one.journals()[0].path.read_text().replace("raise ValueError('not for you')", "")


def test_an_interrupt_is_told(bench):
    one = bench("raise KeyboardInterrupt").run("a")
    assert one.kinds() == ["interrupt"]


def test_a_restart_names_the_cells_that_were_not_run_again(bench):
    one = bench("x = 1", "y = 2").run("*")
    one.restart()
    (restart,) = one.run("a").check().interventions
    assert restart.kind.value == "kernel_restart"
    assert "cells last run before that: 1" in restart.remedy


def test_every_intervention_has_a_remedy(bench):
    one = bench("x = 0", "x += 1", "y = x", "1 / 0").run(*"cabbd").edit("a", "x = 5").run("a")
    found = one.check().interventions
    assert {i.kind.value for i in found} >= {"out_of_order", "rerun", "failed_run", "edited_rerun"}
    assert all(i.remedy and i.at for i in found)


def test_runs_without_ids_are_placed_by_their_source(bench):
    one = bench("x = 0", "x += 1", "y = x")
    for source in ("x = 0", "x += 1", "x += 1", "y = x"):
        one.shell.run_cell(source, store_history=True)
    assert one.states() == "cdd"


def test_runs_with_the_ids_of_another_front_end_are_placed_by_their_source(bench):
    one = bench("x = 0", "y = x", "z = 1")
    for cell_id, source in (("v1", "x = 0"), ("v2", "y = x"), ("v2", "y = x"), ("v3", "z = 1")):
        one.shell.run_cell(source, store_history=True, cell_id=cell_id)
    assert one.states() == "ccc"
    assert one.kinds() == ["rerun"]


def test_a_rerun_that_failed_is_not_called_a_harmless_one(bench):
    one = bench("x = 1", "y = x.real", "del x").run("a", "b", "c", "b")
    assert "rerun" not in one.kinds()
    assert "failed_run" in one.kinds()


def test_an_order_that_changed_nothing_has_no_remedy(bench):
    [found] = bench("a = 1", "b = 2", "c = a + b").run("b", "a", "c").check().interventions
    assert found.kind.value == "out_of_order"
    assert found.remedy.startswith("nothing to do")


def test_a_failure_for_want_of_another_cell_does_not_ask_to_repair_the_cell(bench):
    one = bench("data = [1]", "total = sum(data)").run("a", "b")
    one.restart()
    [failed] = [i for i in one.run("b").check().interventions if i.kind.value == "failed_run"]
    assert failed.remedy.startswith("a clean run gives it other inputs")


def test_a_failure_of_the_cell_itself_asks_to_repair_it(bench):
    [failed] = bench("x = 0", "y = 1 / x").run("a", "b").check().interventions
    assert failed.remedy.startswith("a job stops at this cell")


def test_a_rerun_that_appends_to_a_file_is_no_harmless_one(bench):
    one = bench("with open('log.txt', 'a') as stream:\n    stream.write('x')", "open('new.txt', 'w').close()")
    first, second = one.run("a", "b", "a", "b").check().interventions
    assert first.message == "cell 0 ran 2 times and added to the file `log.txt` each time"
    assert second.remedy.startswith("nothing to do")
