"""Fingerprints of what torch holds: by version counters, which cost nothing and wait for no GPU."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from jupyter_clusterbridge.recorder.feeding import Feeder, identity, is_a

TENSOR_BYTES = 4096
"""Bytes at the beginning of a tensor on the CPU: its version does not move where ``.data`` is written to."""
BEGINNINGS = 20
"""Tensors of a module of which the beginning is read."""


def tensor(feeder: Feeder, value: Any, depth: int) -> None:
    """One tensor."""
    feeder.by_value = False
    address = None if hasattr(value, "fake_mode") else value.data_ptr()
    feeder.mark(f"{address}:{_version(value)}:{tuple(value.shape)}:{value.dtype}")
    _beginning(feeder, value)


def _beginning(feeder: Feeder, value: Any) -> None:
    """The first bytes of an ordinary tensor on the CPU; never of a GPU, which would have to be waited for."""
    torch = sys.modules["torch"]
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.device.type != "cpu":
        return
    if value.layout is not torch.strided or not value.is_contiguous():
        return
    size, start = value.nelement() * value.element_size(), value.storage_offset() * value.element_size()
    address = value.data_ptr()
    if address and start + size <= value.untyped_storage().nbytes():
        feeder.state.update((ctypes.c_char * min(size, TENSOR_BYTES)).from_address(address))


def module(feeder: Feeder, value: Any, depth: int) -> None:
    """A ``torch.nn.Module`` with all below it: mode, parameters and buffers."""
    feeder.by_value = False
    feeder.mark(repr([(identity(inner), inner.training) for inner in value.modules()]))
    held(feeder, value)


def held(feeder: Feeder, value: Any) -> None:
    """The parameters and buffers of a module."""
    parts = [(*inner._parameters.values(), *inner._buffers.values()) for inner in value.modules()]
    _tensors(feeder, [tensor for part in parts for tensor in part])


def _tensors(feeder: Feeder, tensors: list[Any]) -> None:
    """Many tensors that each stand for themselves: their versions, and how some of them begin."""
    found = [tensor for tensor in tensors if tensor is not None]
    for start in range(0, len(found), 64):
        feeder.check_time()
        some = found[start : start + 64]
        feeder.mark(repr([(identity(one), one.data_ptr(), _version(one)) for one in some]))
    for tensor in found[:: max(len(found) // BEGINNINGS, 1)]:
        _beginning(feeder, tensor)


def optimizer(feeder: Feeder, value: Any, depth: int) -> None:
    """An optimizer: settings, parameters and state."""
    for group in value.param_groups:
        feeder.feed({name: item for name, item in group.items() if name != "params"}, depth + 1)
    found = [tensor for group in value.param_groups for tensor in group["params"]]
    for state in value.state.values():
        held = list(state.values()) if type(state) is dict else [state]
        found += [item for item in held if is_a(item, "torch", "Tensor")]
        scalars = [item for item in held if type(item) in (bool, int, float)]
        if scalars:
            feeder.feed(scalars, depth + 1)
    _tensors(feeder, found)


def generator(feeder: Feeder, value: Any, depth: int) -> None:
    """A random generator: its state on the CPU, only itself on a GPU."""
    feeder.by_value = False
    feeder.mark(f"{value.device}")
    if value.device.type == "cpu":
        feeder.state.update(value.get_state().numpy())
    else:
        feeder.mark(f"id:{identity(value)}")


def _version(value: Any) -> int | None:
    return None if value.is_inference() else value._version
