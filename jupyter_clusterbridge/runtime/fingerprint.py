"""64-bit fingerprints of tensors, arrays, batches and indices: xxh3 over the bytes, no random numbers, no sync."""

from __future__ import annotations

import ctypes
import functools
import sys
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import xxhash

CAP = 4 << 20
"""Leaves with more bytes than this are sampled: both ends and evenly spaced blocks, the same ones every time."""
_END = 1 << 20
_BLOCK = 1 << 16
_BLOCKS = 32
_MAX_LEAVES = 10_000
_MAX_DEPTH = 16


class Fingerprint:
    """Feeds a nested value into one hash."""

    def __init__(self, *, cap: int | None = CAP) -> None:
        self._state = xxhash.xxh3_64()
        self._cap = cap
        self.leaves = 0
        """How many leaves' content went in."""
        self._seen = 0
        self._torch: Any = sys.modules.get("torch")
        self._numpy: Any = sys.modules.get("numpy")

    @property
    def value(self) -> int:
        """The fingerprint; 0 when no content went in."""
        return int(self._state.intdigest()) if self.leaves else 0

    def add(self, value: object, depth: int = 0) -> None:
        """Add a value: tensors, arrays, text, numbers, and any nesting of mappings and sequences."""
        self._seen += 1
        if self._seen > _MAX_LEAVES or depth > _MAX_DEPTH:
            return
        if self._torch is not None and isinstance(value, self._torch.Tensor):
            self.add_tensor(value)
        elif type(value) is list or type(value) is tuple:
            self._state.update(b"s(")
            for item in value:
                self.add(item, depth + 1)
            self._state.update(b")")
        elif self._numpy is not None and isinstance(value, (self._numpy.ndarray, self._numpy.generic)):
            self._array(value)
        elif isinstance(value, (str, bytes, int, float, bool, complex, type(None))):
            self._scalar(value)
        elif isinstance(value, Mapping):
            self._nested("m", iter(value.items()), depth)
        elif isinstance(value, (list, tuple)):
            self._nested("s", iter(value), depth)
        elif hasattr(value, "__dict__"):
            self._nested(type(value).__qualname__, iter(vars(value).items()), depth)
        else:
            self._text(type(value).__qualname__)

    def add_tensor(self, tensor: Any) -> None:
        """Add a tensor's type, shape and, where it lies in CPU memory, its bytes."""
        kind = type(tensor)
        if kind is self._torch.Tensor or kind is self._torch.nn.Parameter:
            self._tensor(tensor)
        else:
            with self._torch._C.DisableTorchFunctionSubclass():
                self._tensor(tensor)

    def _tensor(self, tensor: Any) -> None:
        self._state.update(_header(tensor.dtype, tensor.shape))
        if not tensor.is_cpu or tensor.layout is not self._torch.strided:
            return
        self.leaves += 1
        if not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
            tensor = self._dense(tensor.detach())
        size = tensor.numel() * tensor.element_size()
        if size:
            self._bytes(tensor.data_ptr(), size)

    def _dense(self, tensor: Any) -> Any:
        """The tensor with its bytes in one piece: as it lies where that works, else a copy, sampled when large."""
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        if tensor.dim() == 4 and tensor.is_contiguous(memory_format=self._torch.channels_last):
            self._text("nhwc")
            return tensor.permute(0, 2, 3, 1)
        size = tensor.numel() * tensor.element_size()
        if self._cap is not None and size > self._cap and tensor.shape[0] > 1:
            tensor = tensor[:: -(-size // self._cap)]
        return tensor.contiguous()

    def _array(self, value: Any) -> None:
        found = self._numpy.asarray(value)
        self._text(f"a{found.dtype.str}{found.shape}")
        if found.dtype.hasobject:
            for item in found.ravel()[:_MAX_LEAVES].tolist():
                self.add(item, _MAX_DEPTH)
            return
        self.leaves += 1
        flat = self._numpy.ascontiguousarray(found)
        if flat.nbytes:
            self._bytes(flat.ctypes.data, flat.nbytes)

    def _scalar(self, value: object) -> None:
        self.leaves += 1
        data = value if isinstance(value, bytes) else f"{type(value).__name__}{value!r}".encode("utf-8", "replace")
        self._state.update(data)

    def _nested(self, mark: str, items: Iterator[object], depth: int) -> None:
        self._text(f"{mark}(")
        for item in items:
            self.add(item, depth + 1)
        self._text(")")

    def _text(self, text: str) -> None:
        self._state.update(text.encode("utf-8", "replace"))

    def _bytes(self, address: int, size: int) -> None:
        if self._cap is None or size <= self._cap:
            self._state.update(_buffer(address, size))
            return
        self._state.update(_buffer(address, _END))
        step = (size - _END - _BLOCK) // _BLOCKS
        for number in range(_BLOCKS):
            self._state.update(_buffer(address + _END + number * step, _BLOCK))
        self._state.update(_buffer(address + size - _END, _END))


def content_hash(batch: object) -> int:
    """Fingerprint of a batch, capped; 0 when nothing of it lies in CPU memory."""
    fingerprint = Fingerprint()
    fingerprint.add(batch)
    return fingerprint.value


def index_hash(index: object) -> int:
    """Fingerprint of what a sampler drew: a number, or a batch of numbers or of anything else.

    >>> index_hash([3, 1, 2]) == index_hash([3, 2, 1])
    False
    """
    if type(index) is list:
        try:
            return int(xxhash.xxh3_64_intdigest(array("q", index).tobytes()))
        except (TypeError, OverflowError, ValueError):
            pass
    return content_hash(index)


@functools.lru_cache(maxsize=256)
def _header(dtype: object, shape: tuple[int, ...]) -> bytes:
    return f"t{dtype}{tuple(shape)}".encode()


@functools.lru_cache(maxsize=256)
def _bytes_type(size: int) -> Any:
    return ctypes.c_char * size


def _buffer(address: int, size: int) -> Any:
    return _bytes_type(size).from_address(address)
