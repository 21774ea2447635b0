"""The same without usable ids: plain front ends send none and save none, others send ids of their own."""

from __future__ import annotations

from harness import Play, Truth, session


@session("no-ids")
def plain_clean_run(s: Play) -> Truth:
    """A front end without ids, all cells from top to bottom; two of them are equal."""
    s.front_end = "plain"
    s.cells("xs = []", "xs.append(1)", "print(xs)", "xs.append(1)", "print(xs)")
    s.run()
    return Truth("ccccc", unsafe="bd")


@session("no-ids")
def foreign_clean_run(s: Play) -> Truth:
    """A front end with ids of its own."""
    s.front_end = "foreign"
    s.cells("import math", "x = math.pi", "y = x * 2")
    s.run()
    return Truth("ccc")


@session("no-ids")
def plain_reader_out_of_order(s: Play) -> Truth:
    """The lower of two producers ran before the reader."""
    s.front_end = "plain"
    s.cells("x = 1", "y = x * 3", "x = 2")
    s.run("acb")
    return Truth("cdc", did="out_of_order", why={"b": "name:x@c"})


@session("no-ids")
def plain_counter_run_twice(s: Play) -> Truth:
    """A counter ran twice."""
    s.front_end = "plain"
    s.cells("n = 0", "n += 1", "m = n * 10")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:n@b"})


@session("no-ids")
def plain_setting_edited_but_not_its_reader(s: Play) -> Truth:
    """The setting is edited and run, its reader is not."""
    s.front_end = "plain"
    s.cells("lr = 0.1", "rate = lr / 2", "print('x')")
    s.run()
    s.edit("a", "lr = 0.01")
    s.run("a")
    # without ids nobody can tell an edit from a deletion and an insertion
    return Truth("cdc", may="edited_rerun deleted_cell_state out_of_order")


@session("no-ids")
def plain_setting_edited_and_not_run(s: Play) -> Truth:
    """The setting is edited and nothing runs."""
    s.front_end = "plain"
    s.cells("lr = 0.1", "rate = lr / 2", "print('x')")
    s.run()
    s.edit("a", "lr = 0.01")
    # a cell whose text never ran: edited and never run are both right
    return Truth("[en]dc", may="deleted_cell_state")


@session("no-ids")
def plain_value_of_a_deleted_cell(s: Play) -> Truth:
    """The producer is deleted."""
    s.front_end = "plain"
    s.cells("x = 50", "y = x", "print('x')")
    s.run()
    s.delete("a")
    return Truth("dc", did="deleted_cell_state", why={"b": "name:x@-"})


@session("no-ids")
def plain_inserted_cell_run_but_not_its_reader(s: Play) -> Truth:
    """A step is inserted above a reader and run."""
    s.front_end = "plain"
    s.cells("x = 1", "y = x", "print('x')")
    s.run()
    s.run(s.insert("x = 2", after="a"))
    return Truth("ccdc", did="out_of_order", why={"b": "name:x@a"})


@session("no-ids")
def plain_producer_moved_below(s: Play) -> Truth:
    """The producer is dragged below its reader."""
    s.front_end = "plain"
    s.cells("x = 1", "y = x", "print('x')")
    s.run()
    s.move("a", after="b")
    return Truth("dcc", did="out_of_order", why={"b": "name:x@a"})


@session("no-ids")
def plain_cell_split(s: Play) -> Truth:
    """A cell is split and nothing runs again."""
    s.front_end = "plain"
    s.cells("x = 3\ny = x + 1", "z = y * 2")
    s.run()
    s.split("a", 1)
    # the code of both parts ran, as one cell
    return Truth("[cen][cn]c")


@session("no-ids")
def plain_cells_merged(s: Play) -> Truth:
    """Two cells are merged and nothing runs again."""
    s.front_end = "plain"
    s.cells("x = 3", "y = x + 1", "z = y * 2")
    s.run()
    s.merge("a", "b")
    return Truth("[cen]c")


@session("no-ids")
def foreign_edit_seen_by_its_id(s: Play) -> Truth:
    """The ids are not the file's, but two runs with one id are one cell: the edit can be told."""
    s.front_end = "foreign"
    s.cells("lr = 0.1", "rate = lr / 2", "print('x')")
    s.run()
    s.edit("a", "lr = 0.01")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:lr@a"})


@session("no-ids")
def foreign_deleted_step(s: Play) -> Truth:
    """A step is deleted after it ran."""
    s.front_end = "foreign"
    s.cells("x = 1", "x = x * 50", "y = x", "print('x')")
    s.run()
    s.delete("b")
    s.run("d")
    return Truth("cdc", did="deleted_cell_state rerun")


@session("no-ids")
def plain_comments_and_formatting(s: Play) -> Truth:
    """Comments and formatting are edited; the cells are found again by their syntax trees."""
    s.front_end = "plain"
    s.cells("x=1", "y = x+1", "print(y)")
    s.run()
    s.edit("a", "# the start\nx = 1")
    s.edit("b", "y = (\n    x + 1\n)")
    return Truth("ccc")


@session("no-ids")
def plain_restart_and_run_all(s: Play) -> Truth:
    """Explored in any order, then restarted and run from the top."""
    s.front_end = "plain"
    s.cells("n = 1", "n += 1", "m = n")
    s.run("abbcb")
    s.restart()
    s.run()
    return Truth("ccc", unsafe="b", did="kernel_restart")
