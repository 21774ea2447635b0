"""Cells that fail, half-way or whole."""

from __future__ import annotations

from harness import Play, Truth, session


@session("failure")
def failed_after_its_change_then_repaired(s: Play) -> Truth:
    """The cell appended, then failed; repaired and run again it has appended twice."""
    s.cells("xs = []", "xs.append(1)\n1 / 0", "n = len(xs)")
    s.run("ab")
    s.edit("b", "xs.append(1)")
    s.run("bc")
    return Truth("cdd", unsafe="b", did="failed_run edited_rerun", why={"c": "name:xs@b", "b": "name:xs@b"})


@session("failure")
def failed_for_want_of_an_import(s: Play) -> Truth:
    """The cell fails because the imports did not run yet; then all is run in order."""
    s.cells("import math", "x = math.sqrt(4)", "y = x")
    s.run("b")
    s.run("abc")
    return Truth("ccc", did="failed_run", may="out_of_order rerun")


@session("failure")
def syntax_error_repaired(s: Play) -> Truth:
    """A typing error, repaired at once."""
    s.cells("x = 1", "y = x +", "z = 4")
    s.run("ab")
    s.edit("b", "y = x + 1")
    s.run("bc")
    return Truth("ccc", did="failed_run edited_rerun")


@session("failure")
def fails_in_a_clean_run_too(s: Play) -> Truth:
    """The cell fails in every run; the cell below does not need it."""
    s.cells("x = 1", "y = x / 0", "z = x")
    s.run()
    # a job stops at b, so c may be called either
    return Truth("cc[cd]", did="failed_run")


@session("failure")
def ended_by_system_exit(s: Play) -> Truth:
    """A cell ends the program; a job never comes to the cells below, but the person ran them."""
    s.cells("x = 1", "import sys\nsys.exit(0)", "y = x")
    s.run()
    return Truth("c[cd]d", did="failed_run")


@session("failure")
def caught_by_the_cell_itself(s: Play) -> Truth:
    """An error that the cell catches is none."""
    s.cells("d = {}", "try:\n    v = d['k']\nexcept KeyError:\n    v = 0", "w = v + 1")
    s.run()
    return Truth("ccc")


@session("failure")
def check_failed_until_the_data_was_repaired(s: Play) -> Truth:
    """An assertion fails, the data cell is edited and run, the assertion holds."""
    s.cells("data = [1, -1]", "assert min(data) >= 0", "n = len(data)")
    s.run("ab")
    s.edit("a", "data = [1, 1]")
    s.run("abc")
    return Truth("ccc", did="failed_run edited_rerun", may="rerun")


@session("failure")
def half_done_value_was_read(s: Play) -> Truth:
    """The cell bound a name and failed; the reader took that; the repaired cell binds another value."""
    s.cells("base = 2", "x = base\nraise ValueError", "y = x")
    s.run()
    s.edit("b", "x = base + 5")
    s.run("b")
    return Truth("ccd", did="failed_run edited_rerun", why={"c": "name:x@b"})


@session("failure")
def loop_failed_half_way(s: Play) -> Truth:
    """A loop over files fails at the third; the reader works with two of four."""
    s.write("p0.txt", "1")
    s.write("p1.txt", "2")
    s.cells(
        "parts = []",
        "for i in range(4):\n    parts.append(open(f'p{i}.txt').read())",
        "n = len(parts)",
    )
    s.run("ab")
    s.write("p2.txt", "3")
    s.write("p3.txt", "4")
    s.run("bc")
    # two parts of the failed run are in the list beside the four of the whole one
    return Truth("cdd", unsafe="b", did="failed_run", may="rerun file_changed", why={"c": "name:parts@b"})


@session("failure")
def class_half_filled(s: Play) -> Truth:
    """An object was partly set up when its cell failed; the repaired cell makes it anew, so nothing is left."""
    s.cells("class Box:\n    pass", "box = Box()\nbox.a = 1\nbox.b = undefined_name", "total = box.a + box.b")
    s.run("ab")
    s.edit("b", "box = Box()\nbox.a = 1\nbox.b = 2")
    s.run("bc")
    return Truth("ccc", did="failed_run edited_rerun")


@session("failure")
def failed_run_left_a_file(s: Play) -> Truth:
    """A cell wrote a file and failed; the reader below took it, then the cell was edited and not run."""
    s.cells("open('out.txt', 'w').write('1')\nraise RuntimeError", "v = open('out.txt').read()")
    s.run()
    s.edit("a", "open('out.txt', 'w').write('2')")
    return Truth("ed", did="failed_run", why={"b": "file:out.txt@a"})
