"""Questions, debuggers, interrupts and the end of the kernel."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from front_kit import WAIT_S


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


def test_what_the_front_ends_debugger_sets_is_named(front: Any) -> None:
    one = front(
        """
        x = 1
        kernel = get_ipython().kernel
        for command, arguments in (
            ("setVariable", {"name": "x", "value": "77", "variablesReference": 1}),
            ("evaluate", {"expression": "y = 88"}),
            ("evaluate", {"expression": "print(x)"}),
            ("stackTrace", {"threadId": 1}),
        ):
            kernel.do_debug_request({"type": "request", "command": command, "arguments": arguments}).close()
        """
    )
    one.run("a", "b")
    assert [found.message for found in one.found("typed_input")] == [
        f"`{name}` was changed by hand in JupyterLab's debugger while cell 1 stood still" for name in "xy"
    ]
    one.live.execute("%unload_ext clusterbridge")
    assert one.live.execute("print('do_debug_request' in vars(get_ipython().kernel))") == "False\n"


def test_a_question_that_was_taken_out_again_is_no_alarm(front: Any) -> None:
    one = front("name = input('who? ')")
    one.run("a")
    one.answer("b", "me")
    assert not one.one("typed_input").harmless
    one.live.cell("b").source = "name = 'me'"
    one.run("b")
    assert one.one("typed_input").harmless


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
