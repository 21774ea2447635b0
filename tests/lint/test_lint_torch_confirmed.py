"""The table of nondeterministic operations against what torch itself says when they run, on each device here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jupyter_clusterbridge.lint.torch_ops import (
    FUNCTIONS,
    METHODS,
    PUT_ACCUMULATE,
    SCATTER_REDUCE,
    NondeterministicOp,
)

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch
F = torch.nn.functional
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
VERSION = (int(torch.__version__.split(".")[0]), int(torch.__version__.split(".")[1]))
Call = Callable[[str], Any]


def ones(*shape: int, device: str, grad: bool = False) -> Any:
    return torch.ones(*shape, device=device, requires_grad=grad)


def twice(device: str) -> Any:
    """An index that occurs twice."""
    return torch.tensor([0, 0], device=device)


def gradient(forward: Callable[[Any], Any], *shape: int) -> Call:
    """The backward pass of a function of one tensor."""
    return lambda device: forward(ones(*shape, device=device, grad=True)).sum().backward()


def unpool(name: str, *shape: int) -> Call:
    def call(device: str) -> None:
        small, places = getattr(F, f"max_pool{name}")(ones(*shape, device=device), 2, return_indices=True)
        getattr(F, f"max_unpool{name}")(small, places, 2)

    return call


def ctc(device: str) -> None:
    """The native implementation; cuDNN has another for short targets on the CPU."""
    scores = torch.randn(5, 2, 3, device=device, requires_grad=True)
    lengths = torch.tensor([5, 5], device=device), torch.tensor([2, 2], device=device)
    F.ctc_loss(scores.log_softmax(2), torch.ones(2, 2, dtype=torch.long, device=device), *lengths).backward()


CASES: dict[str, tuple[NondeterministicOp, Call]] = {
    "put_": (METHODS["put_"], lambda d: ones(4, device=d).put_(twice(d), ones(2, device=d))),
    "put_ accumulate": (
        PUT_ACCUMULATE, lambda d: ones(4, device=d).put_(twice(d), ones(2, device=d), accumulate=True)
    ),
    "index_reduce_": (
        METHODS["index_reduce_"], lambda d: ones(4, device=d).index_reduce_(0, twice(d), ones(2, device=d), "prod")
    ),
    "scatter_reduce prod": (
        SCATTER_REDUCE["prod"], lambda d: ones(4, device=d).scatter_reduce(0, twice(d), ones(2, device=d), "prod")
    ),
    "scatter_add": (
        METHODS["scatter_add"], lambda d: ones(4, device=d).scatter_add(0, twice(d), ones(2, device=d))
    ),
    "index_add": (METHODS["index_add"], lambda d: ones(4, device=d).index_add(0, twice(d), ones(2, device=d))),
    "index_copy": (METHODS["index_copy"], lambda d: ones(4, device=d).index_copy(0, twice(d), ones(2, device=d))),
    "index_put": (METHODS["index_put"], lambda d: ones(4, device=d).index_put((twice(d),), ones(2, device=d))),
    "kthvalue": (METHODS["kthvalue"], lambda d: ones(4, device=d).kthvalue(1)),
    "histc": (FUNCTIONS["torch.histc"], lambda d: torch.histc(ones(4, device=d))),
    "bincount": (FUNCTIONS["torch.bincount"], lambda d: torch.bincount(twice(d), ones(2, device=d))),
    "median": (FUNCTIONS["torch.median"], lambda d: ones(4, device=d).median(0)),
    "cumsum": (FUNCTIONS["torch.cumsum"], lambda d: ones(4, device=d).cumsum(0)),
    "MaxUnpool1d": (FUNCTIONS["torch.nn.MaxUnpool1d"], unpool("1d", 1, 1, 4)),
    "MaxUnpool2d": (FUNCTIONS["torch.nn.MaxUnpool2d"], unpool("2d", 1, 1, 4, 4)),
    "MaxUnpool3d": (FUNCTIONS["torch.nn.MaxUnpool3d"], unpool("3d", 1, 1, 4, 4, 4)),
    "CTCLoss": (FUNCTIONS["torch.nn.CTCLoss"], ctc),
    "AdaptiveAvgPool2d": (
        FUNCTIONS["torch.nn.AdaptiveAvgPool2d"], gradient(lambda x: F.adaptive_avg_pool2d(x, 2), 1, 1, 5, 5)
    ),
    "AdaptiveMaxPool2d": (
        FUNCTIONS["torch.nn.AdaptiveMaxPool2d"], gradient(lambda x: F.adaptive_max_pool2d(x, 2), 1, 1, 5, 5)
    ),
    "AvgPool3d": (FUNCTIONS["torch.nn.AvgPool3d"], gradient(lambda x: F.avg_pool3d(x, 2), 1, 1, 4, 4, 4)),
    "MaxPool3d": (FUNCTIONS["torch.nn.MaxPool3d"], gradient(lambda x: F.max_pool3d(x, 2), 1, 1, 4, 4, 4)),
    "FractionalMaxPool2d": (
        FUNCTIONS["torch.nn.FractionalMaxPool2d"],
        gradient(lambda x: F.fractional_max_pool2d(x, 2, output_size=2), 1, 1, 5, 5),
    ),
    "ReflectionPad2d": (
        FUNCTIONS["torch.nn.ReflectionPad2d"],
        gradient(lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), 1, 1, 4, 4),
    ),
    "ReplicationPad3d": (
        FUNCTIONS["torch.nn.ReplicationPad3d"],
        gradient(lambda x: F.pad(x, (1,) * 6, mode="replicate"), 1, 1, 4, 4, 4),
    ),
    "grid_sample": (
        FUNCTIONS["torch.nn.functional.grid_sample"],
        gradient(lambda x: F.grid_sample(x, torch.zeros(1, 2, 2, 2, device=x.device)), 1, 1, 4, 4),
    ),
    "interpolate": (
        FUNCTIONS["torch.nn.functional.interpolate"],
        gradient(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), 1, 1, 4, 4),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _warned() -> Iterator[None]:
    torch.set_deterministic_debug_mode("warn")
    yield
    torch.set_deterministic_debug_mode("default")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_torch_warns_of_exactly_what_the_table_says_to_raise(name: str, device: str) -> None:
    op, call = CASES[name]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call(device)
    alerts = [
        str(one.message) for one in seen if "does not have a deterministic implementation" in str(one.message)
    ]
    expected = op.raises(VERSION) and (device == "cuda" or not op.cuda_only)
    assert bool(alerts) == expected, alerts
