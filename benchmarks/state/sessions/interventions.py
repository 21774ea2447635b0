"""What a person does that a job will not do: restarts, interrupts, input, widgets, installs."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from harness import Play, Truth, session

SLIDER = "import ipywidgets as w\nslider = w.IntSlider(value=3, description='depth')\nslider"
LOOP = "import time\nfor step in range(1000):\n    done.append(step)\n    print('step', step, flush=True)\n    time.sleep(0.02)"


@session("intervention")
def restart_and_only_the_first_cells(s: Play) -> Truth:
    """After a restart only the first two cells run; the third has what it had, from the older kernel."""
    s.cells("x = 1", "y = x", "z = y")
    s.run()
    s.restart()
    s.run("ab")
    return Truth("ccc", did="kernel_restart", may="rerun")


@session("intervention")
def restart_and_a_reader_alone(s: Play) -> Truth:
    """After a restart the reader runs alone and fails for want of its input."""
    s.cells("data = [1, 2]", "total = sum(data)")
    s.run()
    s.restart()
    s.run("b")
    return Truth("cd", did="kernel_restart failed_run", may="rerun", why={"b": "name:data@a"})


@session("intervention")
def training_stopped_by_hand(s: Play) -> Truth:
    """A loop is stopped with the stop button when the person has seen enough."""
    s.cells("done = []", LOOP, "n = len(done)")
    s.run("a")
    s.run_until("b", "step 5", "interrupt")
    s.run("c")
    return Truth("cdd", did="interrupt", either="b", why={"c": "name:done@b"})


@session("intervention")
def stopped_while_it_slept_and_run_again(s: Play) -> Truth:
    """A cell that waits is stopped, shortened and run: nothing came of the first try."""
    s.cells("import time", "print('go', flush=True)\ntime.sleep(60)\nx = 1", "y = x")
    s.run("a")
    s.run_until("b", "go", "interrupt")
    s.edit("b", "print('go', flush=True)\ntime.sleep(0.01)\nx = 1")
    s.run("bc")
    return Truth("ccc", did="interrupt edited_rerun")


@session("intervention")
def kernel_killed_in_a_cell(s: Play) -> Truth:
    """The system kills the kernel while a cell runs; the person starts it again and goes on without that cell."""
    s.cells("x = 1", "import time\nprint('big', flush=True)\ntime.sleep(60)", "y = x")
    s.run("a")
    s.run_until("b", "big", "kill")
    s.restart()
    s.run("ac")
    return Truth("cdc", did="kernel_restart", may="rerun failed_run", told={"kernel_restart": "died|killed"})


@session("intervention")
def kernel_took_itself_down(s: Play) -> Truth:
    """A crash in a library ends the kernel; the person takes the line out and runs all."""
    s.cells("x = 1", "import os\nos._exit(11)", "y = x")
    s.run("a")
    s.run_to_death("b")
    s.edit("b", "import os")
    s.restart()
    s.run()
    return Truth("ccc", did="kernel_restart", may="edited_rerun failed_run")


@session("intervention")
def kernel_died_and_nothing_since(s: Play) -> Truth:
    """The kernel dies in the third cell and nobody starts it again."""
    s.cells("x = 1", "y = x", "print('big', flush=True)\nimport time\ntime.sleep(60)")
    s.run("ab")
    s.run_until("c", "big", "kill")
    # from the files alone a dead kernel looks like one that is still running the cell
    return Truth("cc[cd]", may="failed_run kernel_restart")


@session("intervention")
def typed_name(s: Play) -> Truth:
    """A cell asks for a name."""
    s.cells("name = input('name? ')", "greeting = 'hello ' + name")
    s.run("a", "ada")
    s.run("b")
    # a clean run asks too: whether it is called diverged is a matter of words
    return Truth("[cd][cd]", did="typed_input")


@session("intervention")
def typed_secret(s: Play) -> Truth:
    """A cell asks for a password through getpass, in a function of the notebook."""
    s.cells(
        "from getpass import getpass\ndef token():\n    return getpass('token: ')", "t = token()", "print(len(t))"
    )
    s.run("a")
    s.run("b", "s3cret")
    s.run("c")
    return Truth("c[cd][cd]", did="typed_input")


@session("intervention")
def slider_moved_and_read(s: Play) -> Truth:
    """A slider stands at 3 in a clean run; the person moved it to 7 before it was read."""
    s.cells(SLIDER, "depth = slider.value", "trees = depth * 10")
    s.run("a")
    s.kernel.move_widget("depth", 7)
    s.run("bc")
    return Truth("cdd", did="widget_change", why={"b": "name:slider@-|name:slider@a"}, told={"widget_change": "7"})


@session("intervention")
def slider_moved_after_it_was_read(s: Play) -> Truth:
    """The slider is moved, but whoever reads it has read it before."""
    s.cells(SLIDER, "depth = slider.value", "trees = depth * 10", "print('later')")
    s.run("abc")
    s.kernel.move_widget("depth", 9)
    s.run("d")
    return Truth("cccc", did="widget_change")


@session("intervention")
def choice_in_a_dropdown(s: Play) -> Truth:
    """A dropdown decides which column is used."""
    s.cells(
        "import ipywidgets as w\npick = w.Dropdown(options=['a', 'b'], description='col')\npick",
        "column = pick.value",
        "label = column.upper()",
    )
    s.run("a")
    s.kernel.move_widget("col", 1, trait="index")
    s.run("bc")
    return Truth("cdd", did="widget_change", why={"c": "name:column@b"})


@session("intervention")
def slider_moved_and_nothing_reads_widgets(s: Play) -> Truth:
    """A widget is only for show."""
    s.cells(SLIDER, "x = 1", "y = x + 1")
    s.run("ab")
    s.kernel.move_widget("depth", 5)
    s.run("c")
    return Truth("ccc", did="widget_change")


def _wheel(folder: Path) -> None:
    """A tiny wheel of our own, so that an install needs no network."""
    with ZipFile(folder / "tiny_cb-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_cb.py", "ONE = 1\n")
        info = "tiny_cb-1.0.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tiny-cb\nVersion: 1.0\n")
        wheel.writestr(
            info + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(info + "RECORD", "tiny_cb.py,,\n")


@session("intervention")
def package_installed_by_magic(s: Play) -> Truth:
    """``%pip install`` in the middle of the notebook."""
    _wheel(s.folder)
    s.cells("x = 1", "%pip install -q --no-index --no-deps --target libs ./tiny_cb-1.0-py3-none-any.whl", "y = x")
    s.run()
    return Truth("ccc", did="install", told={"install": "tiny_cb|tiny-cb"})


@session("intervention")
def package_installed_by_shell(s: Play) -> Truth:
    """``!pip install`` with a pipe behind it."""
    _wheel(s.folder)
    s.cells(
        "import sys\n!{sys.executable} -m pip install -q --no-index --no-deps --target libs tiny_cb --find-links . 2>&1 | tail -1",
        "y = 1",
    )
    s.run()
    return Truth("cc", did="install")


@session("intervention")
def package_installed_in_the_console(s: Play) -> Truth:
    """A person installs in the console; no cell of the file says so."""
    _wheel(s.folder)
    s.cells("x = 1", "y = x")
    s.run("a")
    s.console("%pip install -q --no-index --no-deps --target libs ./tiny_cb-1.0-py3-none-any.whl")
    s.run("b")
    return Truth("cc", did="install")


@session("intervention")
def learning_rate_poked(s: Play) -> Truth:
    """A parameter is tried in two values; all cells below run again each time."""
    s.cells("lr = 0.1", "steps = [lr * i for i in range(3)]", "print(steps)")
    s.run()
    s.edit("a", "lr = 0.01")
    s.run()
    return Truth("ccc", did="edited_rerun rerun", told={"edited_rerun": "`lr = 0.1` to `0.01`"})


@session("intervention")
def variable_set_in_the_debugger(s: Play) -> Truth:
    """At a breakpoint the person sets another value and goes on."""
    s.cells("x = 1", "import pdb\npdb.set_trace()\ny = x * 2", "z = y")
    s.run("a")
    s.run("b", "!x = 99", "c")
    s.run("c")
    # like typed input, it is in the file that a person is asked: called diverged or not is a matter of words
    return Truth("c[cd][cd]", did="typed_input")


@session("intervention")
def looked_around_after_an_error(s: Play) -> Truth:
    """``%debug`` after an error: the person looks, leaves, and repairs the cell."""
    s.cells("def f(n):\n    return 1 / n", "r = f(0)", "print('end')")
    s.run("ab")
    s.run("b", "p n", "q", source="%debug")
    s.edit("b", "r = f(2)")
    s.run("bc")
    return Truth("ccc", did="failed_run edited_rerun", may="typed_input")
