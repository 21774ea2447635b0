"""What a person does beside the cells, in real kernels driven as a front end drives them."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live import LiveNotebook

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.app.text import check_lines
from jupyter_clusterbridge.model.state import Intervention

LOAD = "%load_ext clusterbridge"
WAIT_S = 60


class Front:
    """A notebook in a kernel; cells have the ids ``a``, ``b``, ...; the first loads the extension."""

    def __init__(self, folder: Path, *sources: str, ids: bool = True) -> None:
        self.path = folder / "work.ipynb"
        cells = [
            {
                "cell_type": "code",
                "id": chr(97 + i),
                "source": s,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, s in enumerate((LOAD, *(textwrap.dedent(source).strip() for source in sources)))
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        self.path.write_text(
            json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells})
        )
        self.live = LiveNotebook(self.path)
        self.live.__enter__()
        self.ids = ids

    def run(self, *ids: str) -> str:
        if self.ids:
            return "".join(self.live.run(one) for one in ids)
        return "".join(self.live.execute(self.live.cell(one).source) for one in ids)

    @property
    def client(self) -> Any:
        return self.live._client

    @property
    def manager(self) -> Any:
        return self.live._manager

    def send(self, cell_id: str, stdin: bool = False) -> str:
        """Begin a cell and do not wait."""
        content = {
            "code": self.live.cell(cell_id).source, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": stdin, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell_id})
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def answer(self, cell_id: str, *answers: str) -> None:
        """Run a cell that asks, and answer."""
        request = self.send(cell_id, stdin=True)
        for text in answers:
            self.client.get_stdin_msg(timeout=WAIT_S)
            self.client.input(text)
        self.wait(request)

    def wait(self, request: str) -> None:
        while self.client.get_shell_msg(timeout=WAIT_S)["parent_header"].get("msg_id") != request:
            pass

    def comm(self, comm_id: str, data: dict[str, Any]) -> None:
        """What the front end sends when a person moves a widget."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)

    def move(self, comm_id: str, **state: Any) -> None:
        self.comm(comm_id, {"method": "update", "state": state, "buffer_paths": []})

    def found(self, kind: str | None = None, harmless: bool = True) -> list[Intervention]:
        found = check_notebook_file(self.path).interventions
        return [one for one in found if kind in (None, one.kind.value) and (harmless or not one.harmless)]

    def one(self, kind: str) -> Intervention:
        [found] = self.found(kind)
        return found

    def journal(self) -> str:
        [path] = (self.path.parent / ".clusterbridge" / "work").glob("*.jsonl")
        return path.read_text()


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Any]:
    made: list[Front] = []

    def make(*sources: str, ids: bool = True) -> Front:
        made.append(Front(tmp_path, *sources, ids=ids))
        return made[-1]

    yield make
    for one in made:
        one.live.__exit__(None, None, None)


# widgets

WIDGETS = (
    "import ipywidgets as w\nslider = w.FloatSlider(0.1, description='lr', step=0.01)\nprint(slider.comm.comm_id)"
)


def test_a_moved_widget_is_told_with_both_values_and_the_cell_that_read_it(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front(WIDGETS, "display(slider)", "lr = slider.value")
    one.run("a")
    comm_id = one.run("b").strip()
    one.run("c")
    one.move(comm_id, value=0.2)
    one.move(comm_id, value=0.4)
    one.run("d")
    moved = one.one("widget_change")
    assert moved.message == (
        'the widget `slider` (FloatSlider "lr") was moved from `0.1` to `0.4`; cell 3 read it after that'
    )
    assert moved.remedy == "write `slider.value = 0.4` into a cell, or make it a parameter"
    assert moved.cell_id == "d"


def test_what_the_notebooks_own_code_sets_is_no_move(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front(WIDGETS, "slider.value = 0.5\nslider.set_state({'value': 0.6})", "lr = slider.value")
    one.run("a", "b", "c", "d")
    assert one.found("widget_change") == []


def test_a_widget_that_nobody_reads_or_that_went_back_is_no_alarm(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front(WIDGETS, "display(slider)", "x = 1", "lr = slider.value")
    one.run("a")
    comm_id = one.run("b").strip()
    one.move(comm_id, value=0.2)
    one.run("c", "d")
    assert one.one("widget_change").harmless
    one.move(comm_id, value=0.1)
    one.run("e")
    assert one.found("widget_change", harmless=False) == []


def test_a_clicked_button_names_what_its_callback_set(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front(
        """
        import ipywidgets as w
        chosen = 1
        def pick(button):
            global chosen
            chosen = 2
        button = w.Button(description='Pick')
        button.on_click(pick)
        print(button.comm.comm_id)
        """,
        "y = chosen",
    )
    one.run("a")
    comm_id = one.run("b").strip()
    one.comm(comm_id, {"method": "custom", "content": {"event": "click"}})
    one.run("c")
    clicked = one.one("widget_change")
    assert clicked.message.startswith(
        'the widget `button` (Button "Pick") was clicked and set `chosen`; cell 2 read'
    )
    assert not clicked.harmless


def test_a_password_is_never_written_down_and_unloading_puts_the_widget_class_back(front: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = front("import ipywidgets as w\nkey = w.Password()\nprint(key.comm.comm_id)", "token = key.value")
    one.run("a")
    comm_id = one.run("b").strip()
    one.move(comm_id, value="hunter2")
    one.run("c")
    assert (
        one.one("widget_change").message == "the widget `key` (Password) was filled in; cell 2 read it after that"
    )
    assert "hunter2" not in one.journal()
    code = "print([hasattr(getattr(w.Widget, n), '__wrapped__') for n in ('set_state', '_handle_custom_msg')])"
    assert one.live.execute(code) == "[True, True]\n"
    one.live.execute("%unload_ext clusterbridge")
    assert one.live.execute(code) == "[False, False]\n"


# questions and debuggers


def test_a_variable_changed_where_the_debugger_stopped_is_named(front: Any) -> None:
    one = front(
        "lr = 0.1\ndef train():\n    rate = lr\n    import pdb; pdb.set_trace()\n    return rate", "out = train()"
    )
    one.run("a", "b")
    one.answer("c", "print(rate)", "rate = 123456", "c")
    messages = [found.message for found in one.found("typed_input")]
    assert messages == [
        "cell 2 stopped in the debugger and asked a person",
        "`rate` was changed by hand in the debugger in `train` while cell 2 stood still",
    ]
    assert "123456" not in one.journal()


def test_a_debugger_that_only_looks_changes_nothing(front: Any) -> None:
    one = front("x = [1]\nimport pdb; pdb.set_trace()\ny = 2")
    one.run("a")
    one.answer("b", "p x", "len(x)", "c")
    assert [found.message for found in one.found("typed_input")] == [
        "cell 1 stopped in the debugger and asked a person"
    ]


def test_post_mortem_debugging_can_change_the_notebooks_state(front: Any) -> None:
    one = front("limits = {'low': 1}", "limits['high']", "%debug", "z = limits")
    one.run("a", "b", "c")
    one.answer("d", "limits['high'] = 5", "q")
    one.run("e")
    assert any(
        m.message.startswith("`limits` was changed by hand in the debugger") for m in one.found("typed_input")
    )


def test_a_question_that_was_taken_out_again_is_no_alarm(front: Any) -> None:
    one = front("name = input('who? ')")
    one.run("a")
    one.answer("b", "me")
    assert not one.one("typed_input").harmless
    one.live.cell("b").source = "name = 'me'"
    one.run("b")
    assert one.one("typed_input").harmless


# the kernel's end


def test_a_killed_kernel_says_in_which_cell_and_at_how_much_memory(front: Any) -> None:
    one = front("data = bytearray(300_000_000)", "import time\ntime.sleep(60)")
    one.run("a", "b")
    one.send("c")
    time.sleep(2.5)
    os.kill(one.manager.provisioner.pid, signal.SIGKILL)
    end = time.monotonic() + WAIT_S
    while not one.found("kernel_restart") and time.monotonic() < end:
        time.sleep(0.5)
    death = one.one("kernel_restart")
    size = float(death.message.removeprefix("the kernel died in cell 2 at ").split()[0])
    assert 0.3 < size < 1.5
    assert death.cell_id == "c"
    assert one.found("failed_run") == []


def test_a_kernel_that_ends_in_order_leaves_no_pulse_and_no_alarm(front: Any) -> None:
    one = front("x = 1")
    one.run("a", "b")
    folder = one.path.parent / ".clusterbridge" / "work"
    assert list(folder.glob("*.pulse"))
    one.live.restart()
    assert list(folder.glob("*.pulse")) == []
    one.run("a", "b")
    assert one.one("kernel_restart").harmless


# interrupts


def test_an_interrupt_names_the_loops_that_it_came_in(front: Any) -> None:
    one = front(
        """
        import time
        for epoch in range(3, 10):
            for step in range(100000):
                time.sleep(0.01)
        """
    )
    one.run("a")
    request = one.send("b")
    time.sleep(1.5)
    one.manager.interrupt_kernel()
    one.wait(request)
    one.live.execute("1")
    interrupt = one.one("interrupt")
    assert interrupt.message.startswith("cell 1 was interrupted at `epoch = 3`, `step = ")


@pytest.mark.torch
def test_an_interrupt_names_the_training_step(front: Any) -> None:
    pytest.importorskip("torch")
    one = front(
        """
        import torch, time
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        while True:
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            open("going", "w").close()
            time.sleep(0.01)
        """
    )
    one.run("a")
    request = one.send("b")
    end = time.monotonic() + WAIT_S
    while not (one.path.parent / "going").exists() and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.3)
    one.manager.interrupt_kernel()
    one.wait(request)
    one.live.execute("1")
    message = one.one("interrupt").message
    assert message.startswith("cell 1 was interrupted at training step ")
    assert int(message.removeprefix("cell 1 was interrupted at training step ").split(",")[0]) > 1


# modules, files, environment, folder


def test_a_module_edited_under_the_kernel_is_told_until_the_kernel_has_the_new_source(front: Any) -> None:
    one = front("import helper", "y = helper.f()", "import importlib\nimportlib.reload(helper);")
    module = one.path.parent / "helper.py"
    module.write_text("def f():\n    return 1\n")
    one.run("a", "b", "c")
    assert one.found("module_changed") == []
    module.write_text("def f():\n    return 22\n")
    stale = one.one("module_changed")
    assert stale.message.startswith(
        "the source of the module `helper` (helper.py) was changed, and the kernel still"
    )
    assert stale.message.endswith("; cell 2 used it")
    one.run("d")
    reloaded = one.one("module_changed")
    assert reloaded.message.endswith(
        "a reload put the new source in place at cell 3; cell 2 had run with the old one"
    )
    assert reloaded.remedy.startswith("run cell 2 again")
    one.run("c")
    assert one.one("module_changed").harmless


def test_autoreload_is_seen_at_the_cell_from_which_on_it_counts(front: Any) -> None:
    one = front("%load_ext autoreload\n%autoreload 2", "from helper import f", "y = f()", "z = f()")
    module = one.path.parent / "helper.py"
    module.write_text("def f():\n    return 1\n")
    one.run("a", "b", "c", "d")
    time.sleep(0.05)
    module.write_text("def f():\n    return 22\n")
    one.run("e")
    found = one.one("module_changed")
    assert "%autoreload put the new source in place at cell 4; cell 3 had run with the old one" in found.message
    assert one.live.execute("print(y, z)") == "1 22\n"


def test_a_data_file_that_somebody_else_changed_is_told(front: Any) -> None:
    one = front("first = open('data.csv').read()", "second = open('data.csv').read()")
    data = one.path.parent / "data.csv"
    data.write_text("1\n")
    os.utime(data, (time.time() - 100, time.time() - 100))
    one.run("a", "b", "c")
    assert one.found("file_changed") == []
    time.sleep(0.1)
    data.write_text("2\n")
    time.sleep(0.1)
    assert one.one("file_changed").message == (
        "the file `data.csv` was changed after cells 1 and 2 had read it, by no cell"
    )
    one.run("c")
    changed = one.one("file_changed")
    assert changed.message == "the file `data.csv` was changed between cell 1 and cell 2, by no cell"
    assert changed.remedy.startswith("run cell 1 again")
    one.run("b")
    assert one.found("file_changed") == []


def test_a_file_that_the_notebook_itself_writes_is_no_changed_file(front: Any) -> None:
    one = front(
        "a = open('data.csv').read()", "open('data.csv', 'w').write('3');", "b = open('data.csv').read()",
        "!echo 4 > data.csv", "c = open('data.csv').read()",
    )  # fmt: skip
    (one.path.parent / "data.csv").write_text("1\n")
    one.run("a", "b", "c", "d", "e", "f")
    assert one.found("file_changed") == []


def test_a_file_of_a_cell_that_somebody_else_edited_is_told_to_its_reader(front: Any) -> None:
    one = front("with open('labels.txt', 'w') as out:\n    out.write('cat')", "open('labels.txt').read()")
    one.run("a", "b", "c")
    assert one.found("file_changed") == []
    time.sleep(0.1)
    (one.path.parent / "labels.txt").write_text("cat,dog")
    time.sleep(0.1)
    one.run("c")
    message = "the file `labels.txt` was changed after cell 1 had written it and before cell 2 read it, by no cell"
    assert one.one("file_changed").message == message


def test_the_environment_and_the_folder_changed_between_cells_are_told(front: Any) -> None:
    one = front(
        """
        import os, threading, time
        def later():
            time.sleep(0.5)
            os.environ["MODE"] = "fast"
            os.chdir("/")
        threading.Thread(target=later).start()
        """,
        "mode = os.environ.get('MODE')",
    )
    one.run("a", "b")
    time.sleep(1)
    one.run("c")
    variable, folder = one.one("env_change"), one.one("cwd_change")
    assert variable.message.startswith("the environment variable `MODE` was changed after cell 1 and in no cell")
    assert folder.message.startswith("the working directory was changed after cell 1 and in no cell")


def test_the_environment_that_cells_of_the_file_set_is_no_alarm(front: Any) -> None:
    one = front("import os\nos.environ['MODE'] = 'x'", "%env OTHER=1", "mode = os.environ['MODE']")
    one.run("a", "b", "c", "d")
    assert one.found() == []


def test_a_variable_set_in_the_console_is_told(front: Any) -> None:
    one = front("import os", "mode = os.environ.get('MODE')")
    one.run("a", "b")
    one.live.execute("os.environ['MODE'] = 'x'")
    one.run("c")
    message = one.one("env_change").message
    assert message.startswith("the environment variable `MODE` was changed by a cell that is not in the file")


# parameters


def test_a_value_set_in_the_console_over_that_of_a_cell_is_told_with_both(front: Any) -> None:
    one = front("lr = 0.1", "out = lr * 2")
    one.run("a", "b")
    one.live.execute("lr = 0.01")
    one.run("c")
    poke = one.one("edited_rerun")
    assert (
        poke.message == "code that is in no cell changed `lr = 0.1` to `0.01`, which cell 1 sets; cell 2 read it"
    )
    assert poke.remedy == "make it a parameter"
    assert one.found("deleted_cell_state") == []
    one.run("b", "c")
    assert one.found("edited_rerun") == []


# front ends without ids


def test_without_ids_the_same_things_are_told(front: Any) -> None:
    one = front("lr = 0.1", "name = input()", "raise ValueError", ids=False)
    one.run("a", "b")
    one.run("d")
    kinds = {found.kind.value for found in one.found()}
    assert "failed_run" in kinds


# installs


def make_wheel(folder: Path, version: str) -> Path:
    import zipfile

    path = folder / f"cbtoy-{version}-py3-none-any.whl"
    info = f"cbtoy-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("cbtoy.py", f"__version__ = '{version}'\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: cbtoy\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"cbtoy.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


def test_an_install_says_what_is_in_memory_and_what_is_installed(front: Any, tmp_path: Path) -> None:
    site = tmp_path / "packages"
    wheels = [make_wheel(tmp_path, "1.0"), make_wheel(tmp_path, "2.0")]
    install = f"!{sys.executable} -m pip install -q --no-index --no-deps --upgrade --target {site} "
    one = front(
        f"import sys\nsys.path.insert(0, {str(site)!r})",
        install + str(wheels[0]),
        "import cbtoy",
        f"!rm -r {site}/* && " + install[1:] + str(wheels[1]),
        "print(cbtoy.__version__)",
    )
    site.mkdir()
    one.run("a", "b", "c", "d", "e")
    assert one.run("f") == "1.0\n"
    first, second = one.found("install")
    assert "installed `cbtoy" in first.message
    assert "now installed: cbtoy 1.0" in first.message
    assert second.message.endswith("in memory is still cbtoy 1.0 (installed: 2.0)")
    assert second.remedy.startswith("restart the kernel")


# the summing up


def test_the_status_begins_with_the_gravest_and_leaves_the_harmless_out(front: Any) -> None:
    one = front("x = 1", "1 / 0", "lr = 0.1", "out = lr")
    one.run("a", "b", "b", "c", "d", "e")
    one.live.execute("lr = 0.01")
    one.run("e")
    lines = [line for line in check_lines(check_notebook_file(one.path), unsafe=False) if line[:1] != " "]
    told = [
        line.partition(":")[0]
        for line in lines
        if line.partition(":")[0] in ("edited rerun", "failed run", "rerun")
    ]
    assert told[0] == "edited rerun"
    assert "rerun" not in [line.partition(":")[0] for line in lines if "cell 1 ran" in line]
    assert told[-1] == "failed run"
