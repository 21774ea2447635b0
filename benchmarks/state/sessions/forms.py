"""Magics, async cells, star imports, scripts."""

from __future__ import annotations

from harness import Play, Truth, session


@session("form")
def timed_cell_run_twice(s: Play) -> Truth:
    """``%%time`` above a cell that accumulates."""
    s.cells("n = 0", "%%time\nn += 1", "m = n")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:n@b"})


@session("form")
def captured_cell_edited(s: Play) -> Truth:
    """``%%capture`` above a cell whose value changed."""
    s.cells("%%capture out\nprint('hi')\nk = 3", "y = k", "text = out.stdout")
    s.run()
    s.edit("a", "%%capture out\nprint('hi')\nk = 4")
    s.run("a")
    # out is captured anew by other code, with an equal text
    return Truth("cd[cd]", did="edited_rerun", why={"b": "name:k@a"})


@session("form")
def line_timed_twice(s: Play) -> Truth:
    """``%time`` before a statement that accumulates."""
    s.cells("xs = []", "%time xs.append(1)", "n = len(xs)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:xs@b"})


@session("form")
def timeit_that_changes_a_list(s: Play) -> Truth:
    """``%timeit`` really runs its statement."""
    s.cells("xs = []", "%timeit -n 2 -r 1 xs.append(1)", "n = len(xs)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:xs@b"})


@session("form")
def bash_that_writes_a_file(s: Play) -> Truth:
    """``%%bash`` writes what a cell reads; it is edited and run, the reader is not."""
    s.cells("%%bash\necho one > words.txt", "words = open('words.txt').read()", "print('x')")
    s.run()
    s.edit("a", "%%bash\necho one two > words.txt")
    s.run("a")
    return Truth("cdc", did="edited_rerun", may="file_changed", why={"b": "file:words.txt@a|file:words.txt@-"})


@session("form")
def shell_that_appends_to_a_file(s: Play) -> Truth:
    """``!echo >>`` appends, twice."""
    s.cells("open('l.txt', 'w').write('')", "!echo row >> l.txt", "n = len(open('l.txt').readlines())")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", may="file_changed", why={"c": "file:l.txt@b|file:l.txt@-"})


@session("form")
def output_of_a_shell_command(s: Play) -> Truth:
    """A name is bound to a command's output; the command is edited and run."""
    s.cells("files = !echo a b", "first = files[0]", "print('x')")
    s.run()
    s.edit("a", "files = !echo c d")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:files@a"})


@session("form")
def script_run_by_magic(s: Play) -> Truth:
    """``%run`` binds the names of a script; the script is changed and run again, the reader is not."""
    s.write("setup.py", "size = 3\n")
    s.cells("%run setup.py", "n = size * 2", "print('x')")
    s.run()
    s.write("setup.py", "size = 3000\n")
    s.run("a")
    return Truth("cdc", did="rerun", may="file_changed module_changed", why={"b": "name:size@a"})


@session("form")
def script_that_counts_in_the_notebook(s: Play) -> Truth:
    """``%run -i`` works in the notebook's namespace and counts up, twice."""
    s.write("bump.py", "count = count + 1\n")
    s.cells("count = 0", "%run -i bump.py", "n = count")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:count@b"})


@session("form")
def async_cell_run_twice(s: Play) -> Truth:
    """A cell with ``await`` accumulates, twice."""
    s.cells("import asyncio\ntotal = 0", "await asyncio.sleep(0)\ntotal += 1", "n = total")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:total@b"})


@session("form")
def coroutine_edited_but_not_its_result(s: Play) -> Truth:
    """An async function is edited and run; the gathered result is not."""
    s.cells(
        "import asyncio\nasync def fetch(i):\n    await asyncio.sleep(0)\n    return i",
        "got = await asyncio.gather(*(fetch(i) for i in range(3)))",
        "total = sum(got)",
    )
    s.run()
    s.edit("a", "import asyncio\nasync def fetch(i):\n    await asyncio.sleep(0)\n    return i * i")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "name:fetch@a", "c": "name:got@b"})


@session("form")
def star_import_shadowed_below(s: Play) -> Truth:
    """A star import gives a name that a cell below binds anew; that cell ran before the reader."""
    s.write("consts.py", "RATE = 2\nSIZE = 5\n")
    s.cells("from consts import *", "y = RATE * 10", "RATE = 3", "z = SIZE")
    s.run("acbd")
    return Truth("cdcc", did="out_of_order", why={"b": "name:RATE@c"})


@session("form")
def global_bound_through_globals(s: Play) -> Truth:
    """``globals()`` binds a name; edited and run, its reader is not."""
    s.cells("globals()['k'] = 1", "y = k + 1", "print('x')")
    s.run()
    s.edit("a", "globals()['k'] = 2")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:k@a"})


@session("form")
def exec_edited_but_not_its_reader(s: Play) -> Truth:
    """``exec`` of a text binds a name; edited and run, its reader is not."""
    s.cells("exec('p = 1')", "q = p + 1", "print('x')")
    s.run()
    s.edit("a", "exec('p = 2')")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:p@a"})


@session("form")
def sub_function_through_setattr(s: Play) -> Truth:
    """``setattr`` and ``__dict__`` change an object, twice."""
    s.cells(
        "from types import SimpleNamespace\ncfg = SimpleNamespace(n=1)",
        "setattr(cfg, 'n', cfg.n + 1)",
        "m = cfg.n",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:cfg@b"})


@session("form")
def sent_by_a_person_to_another_cell_by_magic(s: Play) -> Truth:
    """``%reset_selective`` takes a name away below its reader, which ran last and failed."""
    s.cells("alpha = 1", "beta = alpha + 1", "%reset_selective -f alpha")
    s.run("acb")
    return Truth("cdc", did="out_of_order failed_run", either="bc", why={"b": "name:alpha@c|name:alpha@a"})
