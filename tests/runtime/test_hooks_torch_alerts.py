"""torch's warnings of nondeterministic operations: recorded with their line, quiet where nobody asked for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_kit import Recorded

from jupyter_clusterbridge.model.events import EnvironmentSeen, NondeterminismSeen
from jupyter_clusterbridge.runtime.debug_mode import MODE
from jupyter_clusterbridge.runtime.flags import framework_flags, torch_state

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

SETUP = """
import torch
from torch.nn import functional as F
x = torch.arange(16.0).reshape(1, 1, 4, 4)
small, places = F.max_pool2d(x, 2, return_indices=True)
def unpool():
    return F.max_unpool2d(small, places, 2)
"""
UNPOOL = "y = 1\nz = F.max_unpool2d(\n    small, places, 2)"
OPERATION = "max_unpooling2d_forward_out"
SHOWN: list[str] = []
"""What the user would have seen."""
HOLD = "from jupyter_clusterbridge.runtime.debug_mode import MODE\nMODE.hold()"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Recorded]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *args, **kwargs: SHOWN.append(str(message))
        SHOWN.clear()
        recorded = Recorded(tmp_path)
        recorded.run(SETUP)
        yield recorded
        recorded.close()
    torch.set_deterministic_debug_mode("default")
    assert recorded.errors == []


def seen(kernel: Recorded) -> list[tuple[int, int | None, str]]:
    return [(event.run, event.line, event.operation) for event in kernel.events(NondeterminismSeen)]


def test_recording_alone_never_turns_the_mode_on(kernel: Recorded) -> None:
    kernel.run(UNPOOL)
    assert torch.get_deterministic_debug_mode() == 0
    assert seen(kernel) == []


def test_an_operation_is_recorded_with_run_and_line_and_not_shown(kernel: Recorded) -> None:
    kernel.run(HOLD, UNPOOL, UNPOOL, "if x is not None:\n    unpool()")
    assert seen(kernel) == [(3, 2, OPERATION), (4, 2, OPERATION), (5, 2, OPERATION)]
    assert SHOWN == []


def test_an_operation_in_a_loop_is_one_event(kernel: Recorded) -> None:
    kernel.run(HOLD, "for _ in range(50):\n    unpool()")
    assert seen(kernel) == [(3, 2, OPERATION)]


def test_the_users_own_mode_is_listened_to_and_its_warnings_are_shown(kernel: Recorded) -> None:
    kernel.run("torch.set_deterministic_debug_mode('warn')", UNPOOL)
    assert seen(kernel) == [(3, 2, OPERATION)]
    assert [text.split()[0] for text in SHOWN] == [OPERATION]
    kernel.close()
    assert torch.get_deterministic_debug_mode() == 1


def test_a_mode_that_the_user_has_set_is_not_taken(kernel: Recorded) -> None:
    kernel.run("torch.use_deterministic_algorithms(True)", HOLD)
    assert not MODE.ours
    assert torch.get_deterministic_debug_mode() == 2


@pytest.mark.parametrize(
    ("setting", "mode"),
    [
        ("torch.use_deterministic_algorithms(True, warn_only=True)", 1),
        ("torch.set_deterministic_debug_mode(2)", 2),
    ],
)
def test_a_mode_that_the_user_sets_later_wins_and_stays(setting: str, mode: int, kernel: Recorded) -> None:
    kernel.run(HOLD, setting)
    assert not MODE.ours
    assert torch.get_deterministic_debug_mode() == mode
    assert framework_flags()["torch.deterministic_algorithms"] == "True"
    kernel.close()
    assert torch.get_deterministic_debug_mode() == mode


def test_unloading_puts_everything_back(kernel: Recorded) -> None:
    fills = torch.utils.deterministic.fill_uninitialized_memory
    setters = (torch.use_deterministic_algorithms, torch.set_deterministic_debug_mode)
    kernel.run(HOLD, UNPOOL)
    kernel.close()
    assert torch.get_deterministic_debug_mode() == 0
    assert torch.utils.deterministic.fill_uninitialized_memory is fills
    assert (torch.use_deterministic_algorithms, torch.set_deterministic_debug_mode) == setters
    assert not [one for one in warnings.filters if "deterministic" in str(one[1])]
    assert warnings.showwarning.__code__.co_filename == __file__


def test_our_mode_is_not_recorded_as_the_notebooks(kernel: Recorded) -> None:
    before, state = framework_flags(), torch_state()
    kernel.run(HOLD, UNPOOL)
    assert framework_flags() == before
    assert torch_state() == state
    for event in kernel.events(EnvironmentSeen):
        assert event.environment.flags.get("torch.deterministic_algorithms", "False") == "False"


def test_other_warnings_pass_as_they_are(kernel: Recorded) -> None:
    kernel.run(HOLD, "import warnings\nwarnings.warn('mind the gap')")
    assert SHOWN == ["mind the gap"]
    assert seen(kernel) == []


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        (
            "scatter_add_cuda_kernel does not have a deterministic implementation, but you set"
            " 'torch.use_deterministic_algorithms(True, warn_only=True)'.",
            "scatter_add_cuda_kernel",
        ),
        (
            "Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or"
            " `at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic because it"
            " uses CuBLAS and you have CUDA >= 10.2.",
            "CuBLAS",
        ),
    ],
)
def test_the_words_of_torch_on_a_gpu_are_understood(text: str, operation: str, kernel: Recorded) -> None:
    kernel.run(HOLD, f"import warnings\nwarnings.warn({text!r})")
    assert seen(kernel) == [(3, 2, operation)]


def test_a_compiled_function_is_compiled_as_often_as_without_the_hook(kernel: Recorded) -> None:
    testing = pytest.importorskip("torch._dynamo.testing")
    kernel.shell.user_ns["counter"] = counter = testing.CompileCounter()
    kernel.run(
        "compiled = torch.compile(lambda a: (a * 2).sin().sum(), backend=counter)\ncompiled(x)", "compiled(x)"
    )
    assert counter.frame_count == 1
