"""Sources of imported local modules."""

from __future__ import annotations

from harness import Play, Truth, session

OLD = "def f(x):\n    return x + 1\n"
NEW = "def f(x):\n    # repaired\n    return x + 100\n"


@session("module")
def module_repaired_after_its_use(s: Play) -> Truth:
    """The module's file is repaired after a cell used it; nothing was imported again."""
    s.write("utils.py", OLD)
    s.cells("import utils", "y = utils.f(1)", "print(y)", "print('later')")
    s.run("abc")
    s.write("utils.py", NEW)
    s.run("d")
    # a clean run imports the new source; whether the import itself counts as diverged is a matter of words
    return Truth("[cd]ddc", did="module_changed", why={"b": "module:utils@-|module:utils@a"})


@session("module")
def module_repaired_under_autoreload(s: Play) -> Truth:
    """autoreload takes the repaired module in before the next cell: the first user is stale, the second is not."""
    s.write("utils.py", OLD)
    s.cells("%load_ext autoreload\n%autoreload 2\nimport utils", "y = utils.f(1)", "z = utils.f(2)")
    s.run("ab")
    s.write("utils.py", NEW)
    s.run("c")
    return Truth("[cd]dc", did="module_changed", why={"b": "module:utils@-|module:utils@a"})


@session("module")
def module_reloaded_by_a_cell(s: Play) -> Truth:
    """A cell reloads the repaired module; the user above it is stale, the one below is current."""
    s.write("utils.py", OLD)
    s.cells("import importlib, utils", "y = utils.f(1)", "importlib.reload(utils)", "z = utils.f(2)")
    s.run("ab")
    s.write("utils.py", NEW)
    s.run("cd")
    return Truth("[cd]d[cd]c", did="module_changed", either="c", why={"b": "module:utils@-|module:utils@a"})


@session("module")
def function_imported_from_a_module_that_changed(s: Play) -> Truth:
    """``from utils import f`` keeps the old function."""
    s.write("utils.py", OLD)
    s.cells("from utils import f", "y = f(1)", "print('later')")
    s.run("ab")
    s.write("utils.py", NEW)
    s.run("c")
    return Truth("[cd]dc", did="module_changed", why={"b": "module:utils@-|module:utils@a|name:f@a"})


@session("module")
def module_in_a_package_changed(s: Play) -> Truth:
    """A module inside a local package is repaired after its use."""
    s.write("pkg/__init__.py", "")
    s.write("pkg/core.py", OLD)
    s.cells("from pkg import core", "y = core.f(1)", "print('later')")
    s.run("ab")
    s.write("pkg/core.py", NEW)
    s.run("c")
    return Truth(
        "[cd]dc",
        did="module_changed",
        why={"b": "module:pkg.core@-|module:pkg.core@a|module:core@a|module:core@-"},
    )


@session("module")
def module_written_by_a_cell_and_edited(s: Play) -> Truth:
    """``%%writefile`` writes the module; it is edited and run, but the old module stays in memory."""
    s.cells("%%writefile tools.py\ndef f():\n    return 1", "import tools", "y = tools.f()")
    s.run()
    s.edit("a", "%%writefile tools.py\ndef f():\n    return 12345")
    s.run("a")
    return Truth("c[cd]d", did="edited_rerun", may="module_changed")
