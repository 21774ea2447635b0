"""Fingerprints of arrays and frames: their memory, of frames by column."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from jupyter_clusterbridge.recorder.feeding import Feeder, is_a

_BLOCK = 1 << 16
"""Bytes from which on a block of memory is remembered, for as long as one look at all values takes."""
_SMALL_BYTES = 1 << 20
"""Bytes of an immutable column that are hashed all the same, since a new column may hold the old values."""
COLUMNS = 2000
"""Columns of a frame looked at one by one; a wider frame block by block."""


def array(feeder: Feeder, value: Any, depth: int) -> None:
    """A NumPy array: its bytes, or its objects."""
    feeder.mark(f"{value.dtype}{value.shape}")
    value = sys.modules["numpy"].asarray(value)
    if value.dtype.hasobject:
        flat = value.reshape(-1)
        most = feeder.limits.items // 4
        feeder.sequence(flat[:: max(len(flat) // most, 1)].tolist(), depth)
        feeder.exact &= len(flat) <= most
        return
    if not value.flags.c_contiguous:
        value = value.T if value.flags.f_contiguous else value
        if not value.flags.c_contiguous:
            feeder.exact &= value.nbytes <= 1 << 20
            step = max(value.nbytes >> 20, 1)
            value = value[::step].copy() if value.ndim else value.copy()
    flat = value.reshape(-1).view("u1")
    feeder.block(flat.ctypes.data if len(flat) > _BLOCK else 0, memoryview(flat))


def numpy_scalar(feeder: Feeder, value: Any, depth: int) -> None:
    """A NumPy scalar."""
    feeder.mark(value.tobytes().hex())


def bit_generator(feeder: Feeder, value: Any, depth: int) -> None:
    """A NumPy random generator by its state."""
    feeder.by_value = False
    if value is getattr(sys.modules["numpy"].random.mtrand, "_rand", None):
        feeder.mark("global")  # held by distributions and estimators; where it stands is a location of its own
        return
    state = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
    feeder.feed(state.state, 0)  # made for this look: an identity in it would say nothing


def python_random(feeder: Feeder, value: Any, depth: int) -> None:
    """A ``random.Random`` by its state."""
    feeder.mark(str(hash(value.getstate())))


def frame(feeder: Feeder, value: Any, depth: int) -> None:
    """A DataFrame or Series, column by column."""
    manager = value._mgr
    for axis in manager.axes:
        index(feeder, axis, depth)
    for array in columns(manager):
        column(feeder, array, depth)


def index(feeder: Feeder, value: Any, depth: int) -> None:
    """An index of pandas."""
    if type(value).__name__ == "RangeIndex":
        feeder.mark(f"{value.start}:{value.stop}:{value.step}")
    elif is_a(value, "pandas", "MultiIndex"):
        feeder.feed(list(value._names), feeder.limits.depth - 1)
        for level, codes in zip(value._levels, value._codes, strict=True):
            index(feeder, level, depth)
            feeder.feed(codes, feeder.limits.depth - 1)
    else:
        column(feeder, value._data, depth)


def column(feeder: Feeder, array: Any, depth: int) -> None:
    """One column of a frame: its memory, or where that lies if nobody can write to it."""
    feeder.mark(str(array.dtype))
    arrow = getattr(array, "_pa_array", None)
    if arrow is not None:  # immutable: a change makes new buffers
        if arrow.nbytes <= _SMALL_BYTES:
            for chunk in arrow.chunks:
                feeder.mark(f"{chunk.type}:{chunk.offset}:{len(chunk)}")
                for buffer in chunk.buffers():
                    feeder.buffer(memoryview(buffer if buffer is not None else b""))
            return
        feeder.by_value = False
        for chunk in arrow.chunks:
            feeder.mark(":".join(str(b.address) if b is not None else "" for b in chunk.buffers()))
        return
    parts = [getattr(array, name, None) for name in ("_ndarray", "_data", "_mask", "_codes")]
    found = [part for part in parts if is_a(part, "numpy", "ndarray")]
    for part in found or [array]:
        feeder.feed(part, min(depth + 1, feeder.limits.depth - 1))


def columns(manager: Any) -> Iterator[Any]:
    """The columns of a frame one by one, since pandas joins equal types into one block when it likes."""
    arrays = manager.arrays
    if len(manager.axes) < 2 or len(manager.axes[0]) > COLUMNS:
        yield from arrays
        return
    for block, place in zip(manager.blknos, manager.blklocs, strict=True):
        array = arrays[block]
        yield array[place] if getattr(array, "ndim", 1) == 2 else array
