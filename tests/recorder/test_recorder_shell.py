"""The recorder in a shell: what it writes, and that it leaves the user's cells and shell alone."""

from __future__ import annotations

import builtins
import errno
import getpass
from pathlib import Path

from jupyter_clusterbridge.app.record import current_recorder, start_recording, stop_recording
from jupyter_clusterbridge.model.events import CellEnd, CellStart, InterventionSeen, KernelEnd, KernelStart
from jupyter_clusterbridge.recorder import recorder as recorder_module
from jupyter_clusterbridge.runtime import api


def events(one, kind):
    return [event for journal in one.journals() for event in journal.events if isinstance(event, kind)]


def test_each_cell_is_written_with_its_id_source_and_end(bench):
    one = bench("x = 1", "1 / 0", "raise SystemExit", "raise KeyboardInterrupt", "y =").run("*")
    starts, ends = events(one, CellStart), events(one, CellEnd)
    assert [(e.run, e.cell_id, e.source) for e in starts[:2]] == [(1, "a", "x = 1"), (2, "b", "1 / 0")]
    assert [e.status for e in ends] == ["ok", "error", "exit", "interrupted", "error"]
    assert [e.error for e in ends] == [None, "ZeroDivisionError", "SystemExit", "KeyboardInterrupt", "SyntaxError"]
    assert ends[0].writes == ("name:x",)
    assert isinstance(one.journals()[0].events[0], KernelStart)


def test_requests_without_history_and_silent_ones_are_no_cells(bench):
    one = bench("x = 1")
    one.shell.run_cell("hidden = 1", silent=True)
    one.shell.run_cell("hidden = 2", store_history=False)
    assert events(one, CellStart) == []


def test_cells_run_from_within_a_cell_belong_to_it(bench):
    one = bench("%%capture\nx = 1", "get_ipython().run_cell('q = 1', store_history=True)", "%time z = 3", "w = 4")
    one.run("*")
    assert [e.cell_id for e in events(one, CellStart)] == ["a", "b", "c", "d"]
    assert [e.writes for e in events(one, CellEnd)][:2] == [("name:x",), ("name:q",)]


def test_a_script_run_by_magic_belongs_to_its_cell(bench, tmp_path):
    (tmp_path / "helper.py").write_text("inner = 5\n")
    one = bench("%run helper.py").run("a")
    assert [(e.status, e.writes) for e in events(one, CellEnd)] == [("ok", ("name:inner",))]


def test_an_async_cell_is_one_run(bench):
    one = bench("import asyncio\nawait asyncio.sleep(0.01)\ndone = True").run("a")
    assert [e.status for e in events(one, CellEnd)] == ["ok"]


def test_the_cell_that_loads_the_extension_is_recorded(bench):
    one = bench("x = 1")
    one.close()
    one.shell.user_ns["begin"] = lambda: one.recorder.start(one.path)
    one.cells["k"] = "begin()\nz = 1"
    one.run("k")
    assert events(one, CellStart)[-1].cell_id == "k"
    assert "name:z" in events(one, CellEnd)[-1].writes


def test_starting_twice_adds_no_second_callback(bench):
    one = bench("x = 1")
    one.recorder.start(one.path)
    assert len([c for c in one.shell.events.callbacks["pre_run_cell"] if "Recorder" in repr(c)]) == 1
    one.run("a")
    assert len(events(one, CellStart)) == 1


def test_stopping_leaves_nothing_behind(bench):
    before = (builtins.input, getpass.getpass)
    one = bench("x = 1")
    one.close()
    one.shell.run_cell("warm = 1", store_history=True)  # the shell makes attributes of its own at its first cell
    names, attributes = set(one.shell.user_ns), set(vars(one.shell))
    one.recorder.start(one.path)
    one.run("a")
    one.recorder.stop()
    one.recorder.stop()
    assert not [c for group in one.shell.events.callbacks.values() for c in group if "Recorder" in repr(c)]
    assert (builtins.input, getpass.getpass) == before
    assert api._sink is None
    assert {n for n in set(one.shell.user_ns) - names if not n.startswith("_")} == {"x"}
    assert set(vars(one.shell)) == attributes
    assert isinstance(one.journals()[0].events[-1], KernelEnd)


def test_stopping_and_starting_again_gives_a_second_journal_of_the_same_kernel(bench, monkeypatch):
    monkeypatch.setattr(recorder_module, "kernel_id", lambda shell: "same")
    one = bench("x = 1", "x += 1")
    one.run("a")
    one.recorder.stop()
    one.recorder.start(one.path)
    one.run("b")
    assert len(one.journals()) == 2
    report = one.check()
    assert [c.state.value for c in report.cells] == ["current", "current"]
    assert report.interventions == ()


def test_the_cell_that_reloads_the_extension_is_one_run_that_ended(bench, monkeypatch):
    monkeypatch.setattr(recorder_module, "kernel_id", lambda shell: "same")
    one = bench("x = 1", "renew()\ny = x", "z = y")

    def renew():
        one.recorder.stop()
        one.recorder.start(one.path)

    one.shell.user_ns["renew"] = renew
    report = one.run("*").check()
    assert len(one.journals()) == 2
    assert [c.state.value for c in report.cells] == ["current"] * 3
    assert report.interventions == ()


def test_the_cell_that_unloads_the_extension_has_an_end(bench):
    one = bench("x = 1", "leave()")
    one.shell.user_ns["leave"] = one.recorder.stop
    report = one.run("*").check()
    assert [c.state.value for c in report.cells] == ["current"] * 2
    assert report.interventions == ()


def test_a_recording_that_stopped_is_not_called_a_dead_kernel(bench, monkeypatch):
    one = bench("x = 1", "y = 2")
    monkeypatch.setattr(recorder_module, "Footprint", None)
    one.run("a")
    monkeypatch.undo()
    one.restart()
    [failed] = [i for i in one.run("b").check().interventions if i.kind.value == "failed_run"]
    assert "or the recording stopped" in failed.message
    assert failed.remedy == "run it again: a job has to get through it"


def test_the_use_case_keeps_one_recorder_per_shell(bench):
    one = bench("x = 1")
    one.close()
    first = start_recording(one.shell, one.path)
    assert start_recording(one.shell, one.path) is first
    assert current_recorder(one.shell) is first
    stop_recording(one.shell)
    stop_recording(one.shell)
    assert current_recorder(one.shell) is None
    assert not first.active


def test_an_error_of_our_own_is_told_once_and_never_reaches_the_cell(bench, monkeypatch, capsys):
    one = bench("x = 1", "y = 2")

    def broken(*args):
        raise RuntimeError("ours")

    monkeypatch.setattr(recorder_module, "Footprint", broken)
    one.run("*")
    assert all(result.success for result in one.results)
    assert len(one.told) == 1
    assert "RuntimeError" in one.told[0]
    assert not one.recorder.active
    assert "Traceback" not in "".join(capsys.readouterr())
    assert "ours" in (one.recorder.journal.parent / "recorder.log").read_text()


def test_a_full_disk_stops_the_recording_with_one_warning(bench):
    one = bench("x = 1", "y = 2", "z = 3").run("a")

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    one.recorder._writer._events = Full()
    one.run("b", "c")
    assert all(result.success for result in one.results)
    assert len(one.told) == 1
    assert "No space left" in one.told[0]
    assert not one.recorder.active
    assert one.shell.user_ns["z"] == 3


def test_a_folder_that_cannot_be_made_stops_the_recording_with_one_warning(bench, tmp_path):
    one = bench("x = 1")
    one.close()
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / ".clusterbridge").write_text("a file where our folder should be")
    one.recorder.start(folder / "n.ipynb")
    one.run("a")
    assert one.results[0].success
    assert len(one.told) == 1
    assert not one.recorder.active


def test_a_read_only_folder_stops_the_recording_with_one_warning(bench, open_folder, without_rights):
    one = bench("x = 1")
    one.close()
    open_folder.chmod(0o555)
    with without_rights():
        one.recorder.start(open_folder / "n.ipynb")
        assert one.run("a").results[0].success
    assert len(one.told) == 1
    assert list(open_folder.iterdir()) == []


def test_that_input_was_asked_is_recorded_and_never_what_was_typed(bench, monkeypatch):
    monkeypatch.setattr(builtins, "input", lambda prompt="": "s3cret")
    monkeypatch.setattr(getpass, "getpass", lambda prompt="": "s3cret")
    one = bench("a = input('who?')\nb = input('and?')", "import getpass\nc = getpass.getpass('key')").run("*")
    assert one.shell.user_ns["a"] == "s3cret"
    asked = [e.intervention for e in events(one, InterventionSeen)]
    assert [(i.kind.value, i.cell_id) for i in asked] == [("typed_input", c) for c in "aab"]
    assert "s3cret" not in one.journals()[0].path.read_text()
    messages = [i.message for i in one.check().interventions]
    assert messages == [
        "cell 0 asked a person for input with `input`, 2 times",
        "cell 1 asked a person for input with `getpass`",
    ]


def test_an_install_is_recorded_with_its_packages(bench):
    one = bench("%pip install --dry-run --no-index --quiet nothing-like-this==1.0").run("a")
    (seen,) = [i for i in one.check().interventions if i.kind.value == "install"]
    assert seen.message == "cell 0 installed `nothing-like-this==1.0` with `%pip install`"
    assert seen.remedy


def test_the_notebook_is_found_from_the_session_and_else_gets_a_stand_in_name(bench, tmp_path, monkeypatch):
    one = bench("x = 1")
    one.close()
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "work.ipynb"))
    one.recorder.start()
    assert one.recorder.notebook == tmp_path / "work.ipynb"
    one.recorder.stop()
    monkeypatch.setenv("JPY_SESSION_NAME", "some/where/work.ipynb")
    one.recorder.start()
    assert one.recorder.notebook == tmp_path / "work.ipynb"
    one.recorder.stop()
    monkeypatch.delenv("JPY_SESSION_NAME")
    one.recorder.start()
    assert one.recorder.notebook.parent == Path.cwd()
    assert one.recorder.notebook.name.startswith("untitled-")


def test_the_random_streams_are_left_alone(bench):
    import random

    one = bench("x = [3]", "x.append(1)\nprint(x)")
    random.seed(5)
    expected = random.Random(5).random()
    one.run("*")
    assert random.random() == expected
