"""State that changes between cells: callbacks, threads, tasks, the console."""

from __future__ import annotations

from harness import Play, Truth, session


@session("hidden")
def callback_of_a_slider_sets_a_global(s: Play) -> Truth:
    """A slider's callback writes a global between two cells; a clean run has nobody to move it."""
    s.cells(
        "import ipywidgets as w\nlr = 0.1\nslider = w.FloatSlider(value=0.1, description='rate')\nslider",
        "def changed(change):\n    global lr\n    lr = change['new']\nslider.observe(changed, 'value')",
        "rate = lr * 2",
        "other = 5",
    )
    s.run("ab")
    s.kernel.move_widget("rate", 0.7)
    s.run("cd")
    # running b again would register a second callback
    return Truth("ccdc", did="widget_change", may="deleted_cell_state", either="b")


@session("hidden")
def button_that_fills_a_list(s: Play) -> Truth:
    """A button labels an example each time it is pressed; the reader has what the person pressed."""
    s.cells(
        "import ipywidgets as w\nlabels = []\nbutton = w.Button(description='cat')\nbutton",
        "button.on_click(lambda _: labels.append('cat'))",
        "n = len(labels)",
    )
    s.run("ab")
    s.kernel.click("cat")
    s.kernel.click("cat")
    s.run("c")
    return Truth("ccd", did="widget_change", may="deleted_cell_state", either="b")


@session("hidden")
def function_of_interact_sets_a_global(s: Play) -> Truth:
    """``interact`` calls its function at each move; the last call's result is read."""
    s.cells(
        "from ipywidgets import interact\nbest = None",
        "@interact(k=(1, 9))\ndef show(k=2):\n    global best\n    best = k * 10",
        "answer = best",
    )
    s.run("ab")
    s.kernel.move_widget("k", 8)
    s.run("c")
    return Truth("ccd", did="widget_change", may="deleted_cell_state")


@session("hidden")
def thread_joined_by_a_later_cell(s: Play) -> Truth:
    """A thread writes a global; a cell waits for its end, and the cells below read what a clean run reads."""
    s.cells(
        "import threading, time\nresult = 0\ndef work():\n    global result\n    time.sleep(0.3)\n    result = 7",
        "t = threading.Thread(target=work)\nt.start()",
        "t.join()",
        "answer = result",
    )
    s.run()
    return Truth("cccc")


@session("hidden")
def thread_that_a_person_waited_for(s: Play) -> Truth:
    """A thread writes a global half a second later and nobody joins it; the reader ran after a pause."""
    s.cells(
        "import threading, time\nresult = 0\ndef work():\n    global result\n    time.sleep(0.3)\n    result = 7",
        "threading.Thread(target=work).start()",
        "answer = result",
        "print('x')",
    )
    s.run("ab")
    s.wait(0.6)
    s.run("cd")
    # a clean run reads 0 there: nothing in the file waits
    return Truth("ccdc", may="deleted_cell_state")


@session("hidden")
def thread_started_twice(s: Play) -> Truth:
    """A thread counts; it is started by a cell that runs twice, and joined each time."""
    s.cells(
        "import threading\ncount = 0\ndef work():\n    global count\n    count += 1",
        "t = threading.Thread(target=work)\nt.start()\nt.join()",
        "n = count",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:count@b"})


@session("hidden")
def task_awaited_by_a_later_cell(s: Play) -> Truth:
    """An asyncio task writes a global between cells, and a cell awaits it."""
    s.cells(
        "import asyncio\ntotal = 0\nasync def work():\n    global total\n    await asyncio.sleep(0.1)\n    total = 5",
        "task = asyncio.ensure_future(work())",
        "await task",
        "answer = total",
    )
    s.run()
    return Truth("cccc")


@session("hidden")
def task_that_a_person_waited_for(s: Play) -> Truth:
    """A task that nobody awaits writes a global while the person reads the mail."""
    s.cells(
        "import asyncio\ntotal = 0\nasync def work():\n    global total\n    await asyncio.sleep(0.3)\n    total = 5",
        "task = asyncio.ensure_future(work())",
        "answer = total",
        "print('x')",
    )
    s.run("ab")
    s.wait(0.7)
    s.run("cd")
    return Truth("ccdc", may="deleted_cell_state")


@session("hidden")
def value_set_in_the_console(s: Play) -> Truth:
    """A person sets a value in the console; the reader has it, the file does not."""
    s.cells("x = 1", "y = x * 2", "print(y)")
    s.run("a")
    s.console("x = 5")
    s.run("bc")
    # a value that a cell sets, set again by hand, is a parameter that was poked
    did = "edited_rerun|deleted_cell_state"
    return Truth("cdd", did=did, why={"b": "name:x@-", "c": "name:y@b"})


@session("hidden")
def list_changed_in_the_console(s: Play) -> Truth:
    """A person appends in the console."""
    s.cells("xs = [1]", "n = len(xs)", "k = 4")
    s.run("a")
    s.console("xs.append(2)")
    s.run("bc")
    return Truth("cdc", did="deleted_cell_state", why={"b": "name:xs@-"})


@session("hidden")
def looked_at_in_the_console(s: Play) -> Truth:
    """A person only looks in the console: nothing has changed."""
    s.cells("xs = [3, 1]", "n = len(xs)", "k = sum(xs)")
    s.run("a")
    s.console("print(sorted(xs)); len(xs)")
    s.run("bc")
    return Truth("ccc")


@session("hidden")
def sent_text_that_is_not_the_cell(s: Play) -> Truth:
    """A selected line of a cell ran with the cell's id, as "run selected text" does; the whole cell did not."""
    s.cells("x = 1\nxs = []", "xs.append(x)\nxs.append(2)", "n = len(xs)")
    s.run("a")
    s.run("b", source="xs.append(x)")
    s.run("bc")
    return Truth("cdd", unsafe="b", may="edited_rerun rerun deleted_cell_state", why={"c": "name:xs@b"})
