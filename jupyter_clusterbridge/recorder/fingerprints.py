"""Cheap change detection: a digest of what a value holds, capped and sampled, within a time limit.

Runs no code of the user's objects: no ``__eq__``, ``__repr__``, ``__iter__`` or property of theirs, no deep copy,
nothing kept alive.
"""

from __future__ import annotations

import argparse
import enum
import functools
import marshal
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import xxhash

from jupyter_clusterbridge.recorder import feed_torch
from jupyter_clusterbridge.recorder.feeding import OutOfTime, clock, identity, is_a
from jupyter_clusterbridge.recorder.hidden import state_of

__all__ = [
    "Blocks",
    "Fingerprint",
    "OutOfTime",
    "clock",
    "fingerprint",
    "frame_fingerprints",
    "frame_labels",
    "identity",
    "is_estimator",
    "is_notebook_class",
    "is_torch_module",
    "sample",
    "weights",
]

_BLOCK = 1 << 16
"""Bytes from which on a block of memory is remembered, for as long as one look at all values takes."""
_SMALL_BYTES = 1 << 20
"""Bytes of an immutable column that are hashed all the same, since a new column may hold the old values."""
_ATTRIBUTES = 64
_COLUMNS = 2000
"""Columns of a frame looked at one by one; a wider frame block by block."""
_SCALARS = (bool, int, float, complex, type(None), type(Ellipsis), range, slice)
_BY_REPR = {
    ("datetime", "datetime"), ("datetime", "date"), ("datetime", "timedelta"), ("datetime", "time"),
    ("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"), ("re", "Pattern"),
    ("pathlib", "PosixPath"), ("pathlib", "WindowsPath"),
    ("pathlib._local", "PosixPath"), ("pathlib._local", "WindowsPath"),
}  # fmt: skip
_BY_IDENTITY = (
    type, types.ModuleType,
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
)  # fmt: skip
_SEQUENCES: tuple[type, ...] = (list, tuple, deque)
_MAPPINGS: tuple[type, ...] = (dict, OrderedDict, defaultdict)


class Fingerprint(NamedTuple):
    """What is known of a value at one moment; holds no reference to it."""

    identity: int
    digest: int
    exact: bool
    """Whether an equal digest proves that nothing changed."""
    by_value: bool = False
    """Whether it is of plain data alone, so that equal digests of two objects prove equal values."""
    sampled: bool = False
    """Whether it is of a small sample only; it can be held against others of that kind alone."""


class _Limits(NamedTuple):
    """How much of one value is looked at."""

    size: int
    """Bytes hashed in full; larger buffers are sampled."""
    samples: int
    """Places of a larger buffer or container."""
    sample_size: int
    """Bytes at each place."""
    items: int
    scalars: int
    """Length up to which a list of nothing but numbers or texts is taken in full."""
    depth: int


_FULL = _Limits(16 << 20, 64, 4096, 2000, 30_000, 5)
"""About 1 ms of buffers, and as much of containers."""
_SAMPLE = _Limits(1 << 14, 8, 512, 60, 0, 2)
"""About 20 us."""


Blocks = dict[tuple[int, int], int]
"""Digests of memory blocks by address and size, for values that are looked at at one moment and share memory."""


def fingerprint(value: object, deadline: float, blocks: Blocks | None = None) -> Fingerprint:
    """Digest a value.

    Args:
        value: any object.
        deadline: value of :data:`clock` at which to give up.
        blocks: blocks hashed at this moment already; new ones are added, none is hashed twice.

    Raises:
        OutOfTime: the deadline passed.

    >>> box = [1, 2]
    >>> before = fingerprint(box, clock() + 1)
    >>> box.append(3)
    >>> fingerprint(box, clock() + 1).digest == before.digest
    False
    """
    return _fingerprint(value, _Feeder(deadline, _FULL, blocks))


def sample(value: object) -> Fingerprint:
    """Digest a small sample of a value, for when the time of a cell is used up; an equal digest proves nothing."""
    found = _fingerprint(value, _Feeder(float("inf"), _SAMPLE))
    return found._replace(exact=False, by_value=False, sampled=True)


def _fingerprint(value: object, feeder: _Feeder) -> Fingerprint:
    try:
        feeder.feed(value, 0)
    except OutOfTime:
        raise
    except Exception:  # an object of a framework that is not as it should be: only its identity is known
        feeder.exact = feeder.by_value = False
        feeder.state.reset()
    by_value = feeder.exact and feeder.by_value
    return Fingerprint(identity(value), feeder.state.intdigest(), feeder.exact, by_value)


def weights(module: Any, deadline: float) -> Fingerprint:
    """Digest what a ``torch.nn.Module`` holds, but for the mode that its parts are in."""
    feeder = _Feeder(deadline, _FULL)
    feed_torch.held(feeder, module)
    return Fingerprint(identity(module), feeder.state.intdigest(), feeder.exact)


def is_estimator(value: object) -> bool:
    """Whether ``fit`` starts anew: a scikit-learn style estimator without ``warm_start``."""
    roots = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    if not roots & {"sklearn", "xgboost", "lightgbm", "catboost", "imblearn"}:
        return False
    return not _attributes(value).get("warm_start", False)


def is_notebook_class(value: object) -> bool:
    """Whether a value is a class that a cell defines, which can be changed like any object."""
    return isinstance(value, type) and _class_dict(value).get("__module__") == "__main__"


def is_torch_module(value: object) -> bool:
    """Whether a value is a ``torch.nn.Module``; never imports torch."""
    return is_a(value, "torch.nn", "Module")


def frame_labels(value: object) -> list[str] | None:
    """Labels of the columns of a pandas DataFrame, as text; None for what has none."""
    if not is_a(value, "pandas", "DataFrame"):
        return None
    columns: Any = value._mgr.axes[0]  # type: ignore[attr-defined]
    if columns.nlevels > 1 or len(columns) > _COLUMNS:
        return None
    labels = columns.tolist()
    found = [str(label) for label in labels if type(label) in (str, int)]
    return found if len(found) == len(labels) == len(set(found)) else None


def frame_fingerprints(value: Any, deadline: float) -> dict[str, Fingerprint]:
    """A fingerprint of each column by label, and of the rows under the empty label; empty where it has no labels.

    Raises:
        OutOfTime: the deadline passed.
    """
    labels = frame_labels(value)
    if labels is None:
        return {}
    feeder = _Feeder(deadline, _FULL)
    found = {"": feeder.part(lambda: feeder.index(value._mgr.axes[1]))}
    for label, array in zip(labels, _columns(value._mgr), strict=True):
        found[label] = feeder.part(functools.partial(feeder.column, array))
    return found


class _Feeder:
    """One digest under way."""

    def __init__(self, deadline: float, limits: _Limits, blocks: Blocks | None = None) -> None:
        self.state = xxhash.xxh3_64()
        self.exact = True
        self.by_value = True
        self._deadline = deadline
        self._limits = limits
        self._blocks = blocks if blocks is not None else {}
        self._bytes = limits.size
        self._items = limits.items
        self._open: set[int] = set()

    def part(self, feed: Callable[[], None]) -> Fingerprint:
        """A fingerprint of its own for what ``feed`` feeds; the limits go on."""
        self.state.reset()
        self.exact = self.by_value = True
        feed()
        return Fingerprint(0, self.state.intdigest(), self.exact, self.exact and self.by_value)

    def index(self, value: Any) -> None:
        """The labels of an axis."""
        self._index(value, 0)

    def column(self, array: Any) -> None:
        """One column of a frame."""
        self.mark(str(array.dtype))
        self._column(array, 0)

    def feed(self, value: Any, depth: int) -> None:
        """Put a value into the digest."""
        kind = type(value)
        self._items -= 1
        if self._items % 64 == 0:
            self.check_time()
        if kind in _SCALARS:
            self.mark(
                f"{kind.__name__}:{value!r}" if kind is not int else f"int:{hash(value)}:{value.bit_length()}"
            )
        elif kind is str:
            self._text(value)
        elif kind in (bytes, bytearray, memoryview):
            self.mark(kind.__name__)
            self._buffer(memoryview(value).cast("B"))
        elif isinstance(value, _BY_IDENTITY) or issubclass(kind, enum.Enum):
            self._mark_identity(value)
            if depth == 0:
                self._held(value)
        elif depth >= self._limits.depth or self._items < 0 or identity(value) in self._open:
            self._mark_identity(value)
            self.exact = False
        else:
            self._open.add(identity(value))
            self.mark(kind.__qualname__)
            self._structured(value, kind, depth)
            self._open.discard(identity(value))

    def _held(self, value: Any) -> None:
        """What a class or a function of the notebook holds itself."""
        if is_notebook_class(value):
            self._class(value)
        elif isinstance(value, types.MethodType):
            self.feed(value.__self__, 1)
        elif isinstance(value, types.FunctionType) and value.__module__ == "__main__":
            for item in state_of(value):
                self.feed(item, 1)

    def _structured(self, value: Any, kind: type, depth: int) -> None:
        if kind in _SEQUENCES or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            self._sequence(value, depth)
        elif kind in _MAPPINGS:
            self._mapping(value, depth)
        elif kind in (set, frozenset):
            self._set(value)
        elif (kind.__module__, kind.__qualname__) in _BY_REPR:
            self.mark(repr(value))
        elif kind is types.GeneratorType:
            self.by_value = False
            self.mark(f"{identity(value)}:{value.gi_frame is None or value.gi_frame.f_lasti}")
            self.exact = False
        elif not self._framework(value, depth):
            self._object(value, depth)

    def _framework(self, value: Any, depth: int) -> bool:
        for module, name, method in _FRAMEWORKS:
            if is_a(value, module, name):
                method(self, value, depth)
                return True
        return False

    def check_time(self) -> None:
        """Give up when the time of the look is used up."""
        if clock() > self._deadline:
            raise OutOfTime

    # plain Python

    def mark(self, text: str) -> None:
        """Put a text into the digest."""
        self.state.update(text.encode("utf-8", "surrogatepass") + b"\0")

    def _mark_identity(self, value: object) -> None:
        self.by_value = False
        self.mark(f"id:{identity(value)}")

    def _text(self, value: str) -> None:
        if len(value) > 1 << 18:
            self.mark(f"{len(value)}")
            self.exact = False
            value = value[:4096] + value[len(value) // 2 : len(value) // 2 + 4096] + value[-4096:]
        self.mark(value)

    def _buffer(self, view: memoryview) -> None:
        size = view.nbytes
        self.mark(str(size))
        self.check_time()
        if size <= self._bytes:
            self._bytes -= size
            self.state.update(view)
            return
        self.exact = self.by_value = False
        length = self._limits.sample_size
        step = max((size - length) // (self._limits.samples - 1), 1)
        for offset in range(0, size - length + 1, step):
            self.state.update(view[offset : offset + length])

    def _sequence(self, value: Any, depth: int) -> None:
        count = len(value)
        self.mark(str(count))
        if self._items < count <= self._limits.scalars and self._all_scalars(value):
            return
        for item in self._chosen(value, count):
            self.feed(item, depth + 1)

    def _all_scalars(self, value: Any) -> bool:
        """Put a long list of nothing but numbers or texts in as a whole."""
        kinds = set(map(type, value))
        if kinds == {str}:
            self.mark("\0".join(value))
        elif kinds <= {int, float, bool}:
            # version 2 knows no references, which depend on who else holds an object
            self.state.update(marshal.dumps(list(value), 2))
        else:
            return False
        self.check_time()
        return True

    def _chosen(self, value: Any, count: int) -> Any:
        weight = _weight(value[0] if count else None)
        if count * weight <= self._items:
            return tuple(value)
        self.exact = False
        if isinstance(value, deque):
            return (value[0], value[-1])
        some = max(min(self._limits.samples, self._items // weight), 1)
        return [value[index] for index in range(0, count, -(-count // some))] + [value[-1]]

    def _mapping(self, value: Any, depth: int) -> None:
        self.mark(str(len(value)))
        pairs: list[Any]
        weight = _weight(next(iter(value.values()), None))
        if len(value) * weight <= self._items:
            pairs = list(value.items())
        else:
            self.exact = False
            some = max(min(self._limits.samples, self._items // weight // 2), 1)
            pairs = [*islice(value.items(), some), *islice(reversed(value.items()), some)]
        for key, item in pairs:
            self.feed(key, depth + 1)
            self.feed(item, depth + 1)

    def _set(self, value: Any) -> None:
        items = list(islice(value, self._limits.items))
        self.exact &= len(items) == len(value)
        total = len(value)
        for item in items:
            if type(item) in (int, str, float, bool, bytes):
                total ^= xxhash.xxh3_64_intdigest(repr(item).encode("utf-8", "surrogatepass"))
            else:
                total ^= identity(item)
                self.by_value = False
        self.mark(f"{total}")

    def _object(self, value: Any, depth: int) -> None:
        self.exact &= _is_plain(type(value))
        self.by_value = False  # what it does depends on its class too
        self.mark(f"id:{identity(value)}" if depth else "")
        if depth == 0 and is_notebook_class(type(value)):
            self._class(type(value))
        attributes = _attributes(value)
        self.exact &= len(attributes) <= _ATTRIBUTES
        for name, item in islice(attributes.items(), _ATTRIBUTES):
            self.mark(str(name))
            self.feed(item, depth + 1)

    def _class(self, cls: Any) -> None:
        """What a class of the notebook holds itself: settings and counters are often kept there."""
        for name, item in _class_dict(cls).items():
            if not name.startswith(("__", "_abc_")):
                self.mark(name)
                self.feed(item, 1)

    # numpy, pandas

    def _array(self, value: Any, depth: int) -> None:
        self.mark(f"{value.dtype}{value.shape}")
        value = sys.modules["numpy"].asarray(value)
        if value.dtype.hasobject:
            flat = value.reshape(-1)
            most = self._limits.items // 4
            self._sequence(flat[:: max(len(flat) // most, 1)].tolist(), depth)
            self.exact &= len(flat) <= most
            return
        if not value.flags.c_contiguous:
            value = value.T if value.flags.f_contiguous else value
            if not value.flags.c_contiguous:
                self.exact &= value.nbytes <= 1 << 20
                step = max(value.nbytes >> 20, 1)
                value = value[::step].copy() if value.ndim else value.copy()
        flat = value.reshape(-1).view("u1")
        self._block(flat.ctypes.data if len(flat) > _BLOCK else 0, memoryview(flat))

    def _block(self, address: int, view: memoryview) -> None:
        """A buffer that other values may share, as the columns of a frame and what was taken from them do."""
        key = (address, view.nbytes)
        if not address or view.nbytes > self._bytes:
            self._buffer(view)
            return
        if key not in self._blocks:
            self.check_time()
            self._bytes -= view.nbytes
            self._blocks[key] = xxhash.xxh3_64_intdigest(view)
        self.mark(f"{view.nbytes}:{self._blocks[key]}")

    def _numpy_scalar(self, value: Any, depth: int) -> None:
        self.mark(value.tobytes().hex())

    def _bit_generator(self, value: Any, depth: int) -> None:
        self.by_value = False
        if value is getattr(sys.modules["numpy"].random.mtrand, "_rand", None):
            self.mark("global")  # held by distributions and estimators; where it stands is a location of its own
            return
        state = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
        self.feed(state.state, 0)  # made for this look: an identity in it would say nothing

    def _python_random(self, value: Any, depth: int) -> None:
        self.mark(str(hash(value.getstate())))

    def _frame(self, value: Any, depth: int) -> None:
        manager = value._mgr
        for axis in manager.axes:
            self._index(axis, depth)
        for array in _columns(manager):
            self._column(array, depth)

    def _index(self, value: Any, depth: int) -> None:
        if type(value).__name__ == "RangeIndex":
            self.mark(f"{value.start}:{value.stop}:{value.step}")
        else:
            self._column(value._data, depth)

    def _column(self, array: Any, depth: int) -> None:
        arrow = getattr(array, "_pa_array", None)
        if arrow is not None:  # immutable: a change makes new buffers
            if arrow.nbytes <= _SMALL_BYTES:
                for chunk in arrow.chunks:
                    self.mark(f"{chunk.type}:{chunk.offset}:{len(chunk)}")
                    for buffer in chunk.buffers():
                        self._buffer(memoryview(buffer if buffer is not None else b""))
                return
            self.by_value = False
            for chunk in arrow.chunks:
                self.mark(":".join(str(b.address) if b is not None else "" for b in chunk.buffers()))
            return
        parts = [getattr(array, name, None) for name in ("_ndarray", "_data", "_mask", "_codes")]
        found = [part for part in parts if is_a(part, "numpy", "ndarray")]
        for part in found or [array]:
            self.feed(part, min(depth + 1, self._limits.depth - 1))


def _weight(item: object) -> int:
    """How many plain items one item of a container costs, judged by the first: arrays and frames are dear."""
    root = type(item).__module__.partition(".")[0]
    return {"numpy": 10, "torch": 10, "pandas": 100, "__main__": 3}.get(root, 1)


def _columns(manager: Any) -> Iterator[Any]:
    """The columns of a frame one by one, since pandas joins equal types into one block when it likes."""
    arrays = manager.arrays
    if len(manager.axes) < 2 or len(manager.axes[0]) > _COLUMNS:
        yield from arrays
        return
    for block, place in zip(manager.blknos, manager.blklocs, strict=True):
        array = arrays[block]
        yield array[place] if getattr(array, "ndim", 1) == 2 else array


_FRAMEWORKS: tuple[tuple[str, str, Callable[[_Feeder, Any, int], None]], ...] = (
    ("numpy", "ndarray", _Feeder._array),
    ("numpy", "generic", _Feeder._numpy_scalar),
    ("torch", "Tensor", feed_torch.tensor),
    ("torch.nn", "Module", feed_torch.module),
    ("pandas", "DataFrame", _Feeder._frame),
    ("pandas", "Series", _Feeder._frame),
    ("pandas", "Index", _Feeder._index),
    ("torch.optim", "Optimizer", feed_torch.optimizer),
    ("torch", "Generator", feed_torch.generator),
    ("numpy.random", "Generator", _Feeder._bit_generator),
    ("numpy.random", "RandomState", _Feeder._bit_generator),
    ("numpy.random", "BitGenerator", _Feeder._bit_generator),
    ("random", "Random", _Feeder._python_random),
)


def _is_plain(cls: type) -> bool:
    """Whether all that objects of a class hold lies in their ``__dict__``."""
    if cls in (types.SimpleNamespace, argparse.Namespace):
        return True
    return all(
        base is object or (base.__module__ == "__main__" and "__slots__" not in vars(base)) for base in cls.__mro__
    )


def _class_dict(cls: type) -> dict[str, Any]:
    found: types.MappingProxyType[str, Any] = type.__dict__["__dict__"].__get__(cls)
    return dict(found)


def _attributes(value: object) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
