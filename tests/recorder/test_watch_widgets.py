"""Widgets that a person moves, over the messages that a front end sends."""

from __future__ import annotations

from typing import Any

import pytest

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


def test_a_callback_that_changes_a_list_in_place_is_named_with_it(front: Any) -> None:
    one = front(
        """
        import ipywidgets as w
        labels = []
        button = w.Button(description='cat')
        button.on_click(lambda _: labels.append('cat'))
        print(button.comm.comm_id)
        """,
        "n = len(labels)",
    )
    one.run("a")
    comm_id = one.run("b").strip()
    for _ in range(2):
        one.comm(comm_id, {"method": "custom", "content": {"event": "click"}})
    one.run("c")
    clicked = one.one("widget_change")
    assert "was clicked" in clicked.message
    assert "set `labels`; cell 2 read it" in clicked.message


def test_a_widget_that_is_read_and_shown_has_not_changed(bench: Any) -> None:
    pytest.importorskip("ipywidgets")
    one = bench(
        "import ipywidgets as w\ns = w.IntSlider(16)\nbox = w.VBox([s])",
        "width = s.value\nrows = [0] * width\nnames = dict(keep=[s.comm, s.keys, s.style, box.children])",
        "s._repr_mimebundle_();",
        "s.value = 20",
    ).run("a", "b", "c", "b", "c")
    assert one.states() == "cccn"
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)
    assert all(found.harmless for found in one.check().interventions)
    one.run("d", "b")
    assert one.states()[1] == "d"
