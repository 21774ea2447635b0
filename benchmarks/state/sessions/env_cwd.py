"""Environment variables and the working directory."""

from __future__ import annotations

from harness import Play, Truth, session


@session("env")
def variable_set_by_a_cell_below(s: Play) -> Truth:
    """A variable is set above and below its reader; the lower cell ran first."""
    s.cells(
        "import os\nos.environ['CB_MODE'] = 'a'", "mode = os.environ['CB_MODE']", "os.environ['CB_MODE'] = 'b'"
    )
    s.run("acb")
    return Truth("cdc", did="out_of_order", may="env_change", why={"b": "env:CB_MODE@c"})


@session("env")
def variable_edited_but_not_its_reader(s: Play) -> Truth:
    """The variable is edited and run, its reader is not."""
    s.cells("import os\nos.environ['CB_N'] = '2'", "n = int(os.getenv('CB_N', '0'))", "print(n)")
    s.run()
    s.edit("a", "import os\nos.environ['CB_N'] = '4'")
    s.run("a")
    return Truth("cdd", did="edited_rerun", may="env_change", why={"b": "env:CB_N@a", "c": "name:n@b"})


@session("env")
def variable_set_by_magic(s: Play) -> Truth:
    """``%env`` is edited and run, its reader is not."""
    s.cells("%env CB_SIZE=3", "import os\nsize = os.environ.get('CB_SIZE')", "print('x')")
    s.run()
    s.edit("a", "%env CB_SIZE=5")
    s.run("a")
    return Truth("cdc", did="edited_rerun", may="env_change", why={"b": "env:CB_SIZE@a"})


@session("env")
def variables_set_together(s: Play) -> Truth:
    """``os.environ.update`` sets two; one is edited and run."""
    s.cells("import os\nos.environ.update(CB_P='1', CB_Q='2')", "p = os.environ['CB_P']", "q = os.environ['CB_Q']")
    s.run()
    s.edit("a", "import os\nos.environ.update(CB_P='1', CB_Q='3')")
    s.run("a")
    return Truth("ccd", did="edited_rerun", may="env_change", why={"c": "env:CB_Q@a"})


@session("env")
def variable_taken_away_below(s: Play) -> Truth:
    """A cell below removes the variable and ran first, so the reader got its default."""
    s.cells(
        "import os\nos.environ['CB_KEY'] = 'k'",
        "key = os.environ.get('CB_KEY', 'none')",
        "os.environ.pop('CB_KEY', None)",
    )
    s.run("acb")
    return Truth("cdc", did="out_of_order", may="env_change", why={"b": "env:CB_KEY@c"})


@session("env")
def variable_set_in_the_console(s: Play) -> Truth:
    """A person sets a variable in the console; a job will not have it."""
    s.cells("import os", "level = os.environ.get('CB_LEVEL', '0')", "print(level)")
    s.run("a")
    s.console("os.environ['CB_LEVEL'] = '3'")
    s.run("bc")
    return Truth("cdd", did="env_change", may="deleted_cell_state", why={"b": "env:CB_LEVEL@-"})


@session("env")
def path_lengthened_twice(s: Play) -> Truth:
    """A variable is bound from its own old value, twice."""
    s.cells(
        "import os\nos.environ['CB_PATH'] = '/a'", "os.environ['CB_PATH'] += ':/b'", "p = os.environ['CB_PATH']"
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", may="env_change", why={"c": "env:CB_PATH@b"})


@session("cwd")
def folder_changed_by_a_cell_below(s: Play) -> Truth:
    """A cell below changes the folder and ran first."""
    s.cells(
        "import os\nos.makedirs('sub', exist_ok=True)", "here = os.path.basename(os.getcwd())", "os.chdir('sub')"
    )
    s.run("acb")
    return Truth("cdc", did="out_of_order", either="c", may="cwd_change", why={"b": "cwd:.@c"})


@session("cwd")
def folder_entered_twice(s: Play) -> Truth:
    """A relative ``chdir`` runs twice and goes down twice."""
    s.cells("import os\nos.makedirs('x/x/x', exist_ok=True)", "os.chdir('x')", "here = os.getcwd()")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", may="cwd_change", why={"b": "cwd:.@b", "c": "cwd:.@b"})


@session("cwd")
def folder_changed_in_the_console(s: Play) -> Truth:
    """A person changes the folder in the console; a relative path finds another file."""
    s.write("one/data.txt", "1")
    s.write("data.txt", "2")
    s.cells("import os", "text = open('data.txt').read()", "print(text)")
    s.run("a")
    s.console("%cd one")
    s.run("bc")
    return Truth("cdd", did="cwd_change", may="deleted_cell_state", why={"b": "cwd:.@-"})


@session("cwd")
def folder_edited_but_not_its_reader(s: Play) -> Truth:
    """The folder that a cell enters is edited and run; the reader still has the file of the other folder."""
    s.write("one/data.txt", "1")
    s.write("two/data.txt", "2")
    s.cells(
        "import os\nroot = os.path.dirname(os.path.abspath('work.ipynb'))",
        "%cd -q one",
        "text = open('data.txt').read()",
    )
    s.run()
    s.edit("b", "%cd -q {root}/two")
    s.run("b")
    return Truth("ccd", did="edited_rerun", may="cwd_change", either="b", why={"c": "cwd:.@b"})
