"""What changes between cells, or beside one: threads, tasks, callbacks, code that belongs to no cell."""

from __future__ import annotations

import time

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file

THREAD = "import threading, time\nresult = 0\ndef work():\n    global result\n    time.sleep({})\n    result = 7"


def test_what_a_thread_binds_between_cells_diverges_its_reader(bench):
    one = bench(THREAD.format(0.1), "t = threading.Thread(target=work)\nt.start()", "answer = result", "z = 1")
    one.run("a", "b")
    time.sleep(0.4)
    assert one.run("c", "d").states() == "ccdc"
    [reason] = one.cell("c").reasons
    assert (reason.kind, reason.name, reason.cell_id) == ("name", "result", None)
    assert reason.message == (
        "`result` was changed between cells, by a background thread; a clean run takes it from cell 0"
    )
    assert reason.remedy == "run cell 0 first, then this cell"


def test_from_the_cell_on_that_waits_for_a_thread_nothing_is_said(bench):
    cells = (THREAD.format(0.1), "t = threading.Thread(target=work)\nt.start()", "t.join()", "answer = result")
    assert bench(*cells).run("*").states() == "cccc"
    one = bench(*cells).run("a", "b")
    time.sleep(0.4)
    one.run("c", "d")
    assert one.states() == "cccc"
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)


def test_what_a_thread_binds_while_another_cell_runs_is_not_that_cells_doing(bench):
    one = bench(
        THREAD.format(0.1), "t = threading.Thread(target=work)\nt.start()", "time.sleep(0.4)", "answer = result"
    ).run("*")
    assert one.states() == "cccd"
    assert "by a background thread" in one.cell("d").reasons[0].message


def test_what_a_cell_binds_while_a_thread_runs_is_its_own(bench):
    one = bench(
        THREAD.format(0.5),
        "t = threading.Thread(target=work)\nt.start()",
        "result = 3",
        "answer = result",
        "t.join()",
    ).run("*")
    assert one.states() == "ccccc"


def test_a_list_that_a_thread_fills_is_seen(bench):
    work = "def work():\n    time.sleep(0.1)\n    rows.append(1)\n    time.sleep(0.1)"
    one = bench(
        f"import threading, time\nrows = []\n{work}", "threading.Thread(target=work).start()", "n = len(rows)"
    ).run("a", "b")
    time.sleep(0.5)
    assert one.run("c").states() == "ccd"
    assert one.cell("c").reasons[0].name == "rows"


def test_a_pool_of_threads_that_writes_nothing_is_silent(bench):
    one = bench(
        "from concurrent.futures import ThreadPoolExecutor as Pool\npool = Pool(2)\ndef f(x):\n    return x + 1",
        "found = list(pool.map(f, range(4)))",
        "total = sum(found)",
        "pool.shutdown()",
    ).run("*")
    assert one.states() == "cccc"
    assert one.check().interventions == ()


def test_code_that_belongs_to_no_cell_is_told(bench):
    one = bench("x = 1\nxs = [1]", "y = x", "n = len(xs)").run("a")
    one.shell.run_cell("x = 5", store_history=False)
    assert one.run("b", "c").states() == "cdc"
    assert one.cell("b").reasons[0].message.startswith("`x` was changed between cells, by a widget's callback")


def test_names_of_the_shell_and_of_front_ends_are_no_change(bench):
    one = bench("x = 1\nx", "y = x", "x").run("a")
    one.shell.run_cell("_VSCODE_helper = 5\n__name = 3", store_history=False)
    assert one.run("b", "c").states() == "ccc"


CLICK = {"method": "custom", "content": {"event": "click"}}
TASK = """
    import asyncio
    total = 0
    async def work():
        global total
        await asyncio.sleep(0.05)
        total = 5"""


def check(one):
    return check_notebook_file(one.path)


def states(one):
    return "".join(cell.state.value[0] for cell in check(one).cells)


def test_a_task_between_cells_diverges_its_reader_until_a_cell_awaits_it(front):
    one = front(TASK, "task = asyncio.ensure_future(work())", "early = total", "await task", "answer = total")
    one.run("a", "b", "c")
    time.sleep(0.5)
    one.run("d", "e", "f")
    assert states(one) == "cccdcc"
    assert "by a task that ran on in the background" in check(one).cells[3].reasons[0].message


def test_a_clean_run_with_a_task_that_is_awaited_is_silent(front):
    one = front(TASK, "task = asyncio.ensure_future(work())", "await task", "answer = total")
    one.run("a", "b", "c", "d", "e")
    assert states(one) == "ccccc"
    assert check(one).interventions == ()


def test_what_the_callback_of_a_widget_binds_diverges_its_reader(front):
    pytest.importorskip("ipywidgets")
    one = front(
        "import ipywidgets as w\nlr = 0.1\nslider = w.FloatSlider(value=0.1, description='rate')\nslider",
        "def changed(change):\n    global lr\n    lr = change['new']\nslider.observe(changed, 'value')",
        "rate = lr * 2",
        "slider",
    )
    one.run("a", "b", "c")
    one.move(one.live.execute("print(slider.comm.comm_id)").strip(), value=0.7)
    one.run("d", "e")
    assert states(one) == "cccdc"
    [reason] = check(one).cells[3].reasons
    assert reason.message == (
        "`lr` was changed between cells, by a person at a widget; a clean run takes it from cell 1"
    )


def test_what_a_button_appends_to_diverges_its_reader(front):
    pytest.importorskip("ipywidgets")
    one = front(
        "import ipywidgets as w\nlabels = []\nbutton = w.Button(description='cat')\nbutton",
        "button.on_click(lambda _: labels.append('cat'))",
        "n = len(labels)",
    )
    one.run("a", "b", "c")
    one.comm(one.live.execute("print(button.comm.comm_id)").strip(), CLICK)
    one.run("d")
    assert states(one) == "cccd"
    assert check(one).cells[3].reasons[0].name == "labels"
