"""Files as locations: written by one cell, read by another, changed outside."""

from __future__ import annotations

import time

import pytest

from jupyter_clusterbridge.model.events import CellEnd, FileRead

WRITE = "with open('t.txt', 'w') as stream:\n    stream.write('{}')"
READ = "with open('t.txt') as stream:\n    text = stream.read()"


def test_a_file_that_another_cell_wrote_is_read_by_its_reader(bench):
    one = bench(WRITE.format("x"), READ).run("*")
    reads = [event for event in one.journals()[0].events if isinstance(event, FileRead)]
    assert [(event.run, event.path, event.own) for event in reads] == [(2, "t.txt", True)]
    assert one.states() == "cc"


def test_a_file_rewritten_by_an_edited_cell_diverges_its_readers(bench):
    one = bench(WRITE.format("x"), READ, "n = len(text)").run("*").edit("a", WRITE.format("longer")).run("a")
    assert one.states() == "cdd"
    reason = one.cell("b").reasons[0]
    assert (reason.kind, reason.name, reason.cell_id) == ("file", "t.txt", "a")
    assert reason.message.startswith("the file `t.txt` came from cell 0 before it was edited")
    assert one.run("b", "c").states() == "ccc"


def test_an_edited_cell_that_writes_the_same_bytes_changes_nothing(bench):
    one = bench(WRITE.format("x"), READ).run("*").edit("a", "word = 'x'\n" + WRITE.format("x"))
    assert one.run("a").states() == "cc"


def test_a_file_written_by_a_cell_below_diverges_a_reader_that_ran_later(bench):
    one = bench(WRITE.format("x"), READ, WRITE.format("other")).run("a", "c", "b")
    assert one.states() == "cdc"
    assert "cell 2 below" in one.cell("b").reasons[0].message


def test_what_is_made_of_a_file_depends_on_it(bench):
    one = bench(WRITE.format("x"), READ, "n = len(text)").run("*").edit("a", WRITE.format("longer")).run("a", "b")
    assert one.states() == "ccd"


def test_data_that_changed_outside_diverges_those_who_read_the_old(bench, tmp_path):
    (tmp_path / "t.txt").write_text("old")
    time.sleep(0.03)  # a clock of the file system's ticks slowly
    one = bench(READ, "with open('t.txt') as stream:\n    again = stream.read()").run("*")
    assert one.states() == "cc"
    (tmp_path / "t.txt").write_text("new one")
    time.sleep(0.03)
    one.run("b")
    assert one.states() == "dc"
    assert one.cell("a").reasons[0].message.startswith("the file `t.txt` has changed since")
    assert one.cell("a").reasons[0].remedy == "run this cell again"


def test_a_file_touched_without_a_change_is_no_change(bench, tmp_path):
    (tmp_path / "t.txt").write_text("old")
    time.sleep(0.03)
    one = bench(READ).run("*")
    time.sleep(0.03)
    (tmp_path / "t.txt").write_text("old")
    time.sleep(0.03)
    assert one.run("a").states() == "c"


def test_a_file_that_a_cell_adds_to_is_not_safe_to_run_again(bench):
    add = "with open('log.txt', 'a') as stream:\n    stream.write('line')"
    one = bench(add, "text = open('log.txt').read()").run("*")
    assert one.states() == "cc"
    assert one.cell("a").unsafe_to_rerun
    assert one.run("a", "b").states() == "dd"


def test_a_file_that_is_read_changed_and_written_back_is_not_safe_to_run_again(bench, tmp_path):
    (tmp_path / "n.txt").write_text("1")
    time.sleep(0.03)
    one = bench("n = int(open('n.txt').read())\nwith open('n.txt', 'w') as stream:\n    stream.write(str(n + 1))")
    one.run("a")
    assert one.cell("a").unsafe_to_rerun


def test_a_cache_that_is_made_once_and_then_read_leaves_all_current(bench):
    cached = (
        "import os\nif os.path.exists('cache.txt'):\n    data = open('cache.txt').read()\nelse:\n"
        "    data = 'made'\n    with open('cache.txt', 'w') as stream:\n        stream.write(data)"
    )
    one = bench(cached, "n = len(data)").run("*", "*")
    assert one.states() == "cc"
    assert not one.cell("a").unsafe_to_rerun
    one.restart()
    assert one.run("*").states() == "cc"


def test_a_saved_file_read_in_the_next_kernel_leaves_all_current(bench):
    one = bench(WRITE.format("x"), READ).run("*")
    one.restart()
    assert one.run("b").states() == "cc"


@pytest.mark.parametrize(
    ("before", "after"),
    [("x = 1", "x = 3 - 2"), ("x = [1, 'a']", "x = [1]\nx.append('a')"), ("x = {'k': 1}", "x = dict(k=1)")],
)
def test_an_edit_that_gives_the_same_value_changes_nothing_for_readers(bench, before, after):
    one = bench(before, "y = str(x)", "z = y * 2").run("*").edit("a", after).run("a")
    assert one.states() == "ccc"


def test_an_edit_that_gives_another_value_reaches_all_who_depend_on_it(bench):
    one = bench("x = 1", "y = x % 2", "z = y * 2").run("*").edit("a", "x = 4").run("a", "b")
    assert one.states() == "ccd"
    one.edit("a", "x = 5").run("a", "b")
    assert one.states() == "ccc"  # another x, the same y


def test_no_value_can_be_guessed_from_a_journal(bench):
    values = []
    for _ in range(2):
        one = bench("secret = 'abc'").run("a")
        ends = [event for event in one.journals()[-1].events if isinstance(event, CellEnd)]
        values.append(dict(ends[-1].values))
        one.close()
    assert set(values[0]) == {"name:secret"}
    assert len(values[0]["name:secret"]) == 12


def test_a_value_that_differs_each_time_does_not_make_its_readers_diverge(bench):
    one = bench("import time\nt = time.time()", "y = t + 1", "z = y").run("*").run("a")
    assert one.states() == "ccc"
