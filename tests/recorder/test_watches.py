"""Watches keep out of the way: their failures, their cost in threads, and what they leave behind."""

from __future__ import annotations

import pdb
import threading
from typing import Any

import pytest

from jupyter_clusterbridge.model.events import CellEnd
from jupyter_clusterbridge.recorder.watch.modules import ModuleWatch
from jupyter_clusterbridge.recorder.watch.widgets import WidgetWatch


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("clusterbridge")]


@pytest.mark.parametrize("moment", ["start", "begin_cell", "cell_begun", "end_cell", "stop"])
def test_a_watch_that_fails_is_told_of_once_and_the_rest_goes_on(
    bench: Any, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def fail(self: object, *args: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(ModuleWatch, moment, fail)
    one = bench("x = 1", "name = 2", "%pip install --no-index -q nothing-like-this").run("a", "b", "a", "c")
    one.close()
    assert one.told == ["a part of the recording was turned off after an error of its own (RuntimeError)"]
    assert one.states() == "ccc"
    assert "install" in one.kinds()
    assert all(result.success for result in one.results)


def test_nothing_is_left_when_the_recording_ends(bench: Any) -> None:
    original = vars(pdb.Pdb)["default"]
    assert _threads() == []
    one = bench("x = 1").run("a")
    assert _threads() == ["clusterbridge-pulse"]
    assert list(one.path.parent.glob(".clusterbridge/*/*.pulse"))
    assert vars(pdb.Pdb)["default"] is not original
    one.close()
    assert _threads() == []
    assert list(one.path.parent.glob(".clusterbridge/*/*.pulse")) == []
    assert vars(pdb.Pdb)["default"] is original


def test_a_widget_watch_that_fails_in_a_message_lets_the_widget_work(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ipywidgets")

    def fail(self: object, *args: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(WidgetWatch, "_before", fail)
    one = bench("import ipywidgets as w\ns = w.IntSlider(1)", "y = s.value").run("a")
    message = {"content": {"data": {"method": "update", "state": {"value": 7}, "buffer_paths": []}}, "buffers": []}
    slider = one.shell.user_ns["s"]
    slider._handle_msg(message)
    slider._handle_msg(message)
    assert slider.value == 7
    one.run("b")
    slider._handle_msg(message)
    assert one.shell.user_ns["y"] == 7
    assert one.told == ["a part of the recording was turned off after an error of its own (RuntimeError)"]
    assert [e.status for j in one.journals() for e in j.events if isinstance(e, CellEnd)] == ["ok", "ok"]
