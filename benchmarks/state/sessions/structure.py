"""Deleted, inserted, moved, split and merged cells, as JupyterLab sends them."""

from __future__ import annotations

from harness import Play, Truth, session


@session("structure")
def value_of_a_deleted_cell(s: Play) -> Truth:
    """The cell that made a value is deleted; the reader below still used it."""
    s.cells("x = 50", "y = x", "print(y)")
    s.run()
    s.delete("a")
    return Truth("dd", did="deleted_cell_state", why={"b": "name:x@a"})


@session("structure")
def function_of_a_deleted_cell(s: Play) -> Truth:
    """A helper lives on in memory after its cell is gone, and is called again."""
    s.cells("def helper(v):\n    return v + 1", "y = helper(1)", "z = helper(2)")
    s.run("ab")
    s.delete("a")
    s.run("c")
    return Truth("dd", did="deleted_cell_state", why={"b": "name:helper@a", "c": "name:helper@a"})


@session("structure")
def deleted_step_between(s: Play) -> Truth:
    """A step that changed a list in place was deleted after it ran."""
    s.cells("xs = [1, 2, 300]", "xs.remove(300)", "n = len(xs)", "k = 5")
    s.run()
    s.delete("b")
    return Truth("cdc", did="deleted_cell_state", why={"c": "name:xs@b"})


@session("structure")
def deleted_cell_overwritten_since(s: Play) -> Truth:
    """The name that the deleted cell made was bound anew by a cell of the file before it was read."""
    s.cells("x = 1", "x = 50", "x = 2", "y = x")
    s.run()
    s.delete("b")
    return Truth("ccc")


@session("structure")
def inserted_cell_never_run(s: Play) -> Truth:
    """A new step is typed between two cells and not run yet."""
    s.cells("x = 1", "y = x", "z = 4")
    s.run()
    s.insert("x = x + 10", after="a")
    return Truth("cndc", why={"b": "name:x@a"})


@session("structure")
def inserted_cell_run_but_not_its_reader(s: Play) -> Truth:
    """A new step is inserted and run; the reader below it has the old value."""
    s.cells("x = 1", "y = x", "z = 4")
    s.run()
    s.insert("x = 2", after="a")
    s.run("d")
    return Truth("ccdc", did="out_of_order", why={"b": "name:x@a"})


@session("structure")
def inserted_cell_and_all_below_run(s: Play) -> Truth:
    """A new step is inserted, and it and all cells below run."""
    s.cells("x = 1", "y = x * 2", "z = y + 1")
    s.run()
    s.insert("x = 2", after="a")
    s.run("dbc")
    return Truth("cccc", may="out_of_order", did="rerun")


@session("structure")
def reader_moved_above_its_producer(s: Play) -> Truth:
    """After the run the producer is dragged below its reader."""
    s.cells("import math", "x = 2", "y = math.sqrt(x)")
    s.run()
    s.move("b", after="c")
    return Truth("cdc", did="out_of_order", why={"c": "name:x@b"})


@session("structure")
def imports_moved_to_the_top(s: Play) -> Truth:
    """An import is moved to the top, where it belongs; nothing else changes."""
    s.cells("x = 4", "import math", "y = math.sqrt(x)")
    s.run()
    s.move("b")
    return Truth("ccc", may="out_of_order")


@session("structure")
def step_moved_behind_its_readers(s: Play) -> Truth:
    """A step that changes a list is moved behind its reader: a clean run reads before the change."""
    s.cells("xs = [1]", "xs.append(2)", "n = len(xs)")
    s.run()
    s.move("b", after="c")
    return Truth("cdc", unsafe="b", did="out_of_order", why={"c": "name:xs@b"})


@session("structure")
def cell_split_in_two(s: Play) -> Truth:
    """A cell is split and neither part runs again: what was computed is what a clean run computes."""
    s.cells("x = 3\ny = x + 1", "z = y * 2")
    s.run()
    s.split("a", 1)
    # whether the parts are called current, edited or never run: their code ran, as one cell
    return Truth("[ce][cn]c")


@session("structure")
def cell_split_and_its_lower_part_edited(s: Play) -> Truth:
    """A cell is split, the lower part gets another formula and is not run."""
    s.cells("x = 3\ny = x + 1", "z = y * 2")
    s.run()
    s.split("a", 1)
    s.edit("c", "y = x + 5")
    return Truth("[ce]nd", why={"b": "name:y@a"})


@session("structure")
def cell_split_and_both_parts_run(s: Play) -> Truth:
    """A cell is split and both parts run."""
    s.cells("x = 3\ny = x + 1", "z = y * 2")
    s.run()
    s.split("a", 1)
    s.run("ac")
    return Truth("ccc", may="edited_rerun out_of_order rerun")


@session("structure")
def two_cells_merged(s: Play) -> Truth:
    """Two cells are merged and do not run again: what was computed is what a clean run computes."""
    s.cells("x = 3", "y = x + 1", "z = y * 2")
    s.run()
    s.merge("a", "b")
    return Truth("[ce]c")


@session("structure")
def two_cells_merged_and_run(s: Play) -> Truth:
    """Two cells are merged and the whole runs."""
    s.cells("x = 3", "y = x + 1", "z = y * 2")
    s.run()
    s.merge("a", "b")
    s.run("ac")
    return Truth("cc", may="edited_rerun", did="rerun")


@session("structure")
def merged_in_the_wrong_order(s: Play) -> Truth:
    """The lower cell was moved up before the merge: now the halving comes before the doubling plus one."""
    s.cells("x = 8", "x = x * 2 + 1", "x = x / 2", "y = x")
    s.run()
    s.move("c", after="a")
    s.merge("c", "b")
    # its parts ran, but in the other order: edited and diverged are both right
    return Truth(
        "c[ed]d", unsafe="", either="c", did="", may="out_of_order deleted_cell_state", why={"d": "name:x@c"}
    )


@session("structure")
def cut_and_pasted_below(s: Play) -> Truth:
    """The producer is cut and pasted at the end, with a new id, and not run there."""
    s.cells("x = 1", "y = x", "z = 4")
    s.run()
    s.delete("a")
    s.insert("x = 1", after="c")
    # the pasted cell has the code that ran, so current is as good as never run
    return Truth("dc[cn]", may="out_of_order deleted_cell_state", why={"b": "name:x@d|name:x@a"})


@session("structure")
def pasted_twice_and_both_run(s: Play) -> Truth:
    """A cell is copied; the copy runs too and adds once more, as the saved file says."""
    s.cells("n = 0", "n += 1", "m = n")
    s.run("ab")
    copy = s.insert("n += 1", after="b")
    s.run(copy + "c")
    return Truth("cccc", unsafe="bd")


@session("structure")
def deleted_and_all_run_after_a_restart(s: Play) -> Truth:
    """After a deletion the kernel restarts and all cells run: nothing of the deleted cell is left."""
    s.cells("x = 1", "x = 50", "y = x")
    s.run()
    s.delete("b")
    s.restart()
    s.run()
    return Truth("cc", did="kernel_restart")
