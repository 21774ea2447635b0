"""Cheap change detection: a digest of what a value holds, capped and sampled, within a time limit.

Runs no code of the user's objects: no ``__eq__``, ``__repr__``, ``__iter__`` or property of theirs, no deep copy,
nothing kept alive.
"""

from __future__ import annotations

import argparse
import enum
import functools
import marshal
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import xxhash

from jupyter_clusterbridge.recorder import feed_arrays, feed_torch, feed_widgets
from jupyter_clusterbridge.recorder.feeding import Limits, OutOfTime, clock, identity, is_a, is_of
from jupyter_clusterbridge.recorder.hidden import is_machinery, state_of

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
    "is_library_estimator",
    "is_notebook_class",
    "is_torch_module",
    "sample",
    "weights",
]

_ATTRIBUTES = 64
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


_LEARNERS = frozenset({"sklearn", "xgboost", "lightgbm", "catboost", "imblearn"})


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


_FULL = Limits(16 << 20, 64, 4096, 2000, 30_000, 5)
"""About 1 ms of buffers, and as much of containers."""
_SAMPLE = Limits(1 << 14, 8, 512, 60, 0, 2)
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
    if not roots & _LEARNERS:
        return False
    return not _attributes(value).get("warm_start", False)


def is_library_estimator(value: object) -> bool:
    """Whether a value is of an estimator class of a library itself, whose methods do what their names say."""
    return type(value).__module__.partition(".")[0] in _LEARNERS and hasattr(type(value), "fit")


def is_notebook_class(value: object) -> bool:
    """Whether a value is a class that a cell defines, which can be changed like any object."""
    return is_of(value, type) and _class_dict(value).get("__module__") == "__main__"


def is_torch_module(value: object) -> bool:
    """Whether a value is a ``torch.nn.Module``; never imports torch."""
    return is_a(value, "torch.nn", "Module")


def frame_labels(value: object) -> list[str] | None:
    """Labels of the columns of a pandas DataFrame, as text; None for what has none."""
    if not is_a(value, "pandas", "DataFrame"):
        return None
    columns: Any = value._mgr.axes[0]  # type: ignore[attr-defined]
    if columns.nlevels > 1 or len(columns) > feed_arrays.COLUMNS:
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
    found = {"": feeder.part(lambda: feed_arrays.index(feeder, value._mgr.axes[1], 0))}
    for label, array in zip(labels, feed_arrays.columns(value._mgr), strict=True):
        found[label] = feeder.part(functools.partial(feed_arrays.column, feeder, array, 0))
    return found


class _Feeder:
    """One digest under way."""

    def __init__(self, deadline: float, limits: Limits, blocks: Blocks | None = None) -> None:
        self.state = xxhash.xxh3_64()
        self.exact = True
        self.by_value = True
        self._deadline = deadline
        self.limits = limits
        self._blocks = blocks if blocks is not None else {}
        self._bytes = limits.size
        self._items = limits.items
        self._open: set[int] = set()

    def part(self, feed: Callable[[], None]) -> Fingerprint:
        """A fingerprint of its own for what ``feed`` feeds; the limits go on."""
        self.state.reset()
        self.exact = self.by_value = True
        try:
            feed()
        except OutOfTime:
            raise
        except Exception:  # a frame that is not as it should be: nothing is known of this part
            self.exact = False
            self.state.reset()
        return Fingerprint(0, self.state.intdigest(), self.exact, self.exact and self.by_value)

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
            self.buffer(memoryview(value).cast("B"))
        elif is_of(value, _BY_IDENTITY) or issubclass(kind, enum.Enum):
            self._mark_identity(value)
            if depth == 0:
                self._held(value)
        elif depth >= self.limits.depth or self._items < 0 or identity(value) in self._open:
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
        elif is_of(value, types.MethodType):
            self.feed(value.__self__, 1)
        elif is_of(value, types.FunctionType) and value.__module__ == "__main__":
            for item in state_of(value):
                self.feed(item, 1)

    def _structured(self, value: Any, kind: type, depth: int) -> None:
        if kind in _SEQUENCES or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            self.sequence(value, depth)
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

    def buffer(self, view: memoryview) -> None:
        """Put memory into the digest, in full while the value has not used up its bytes."""
        size = view.nbytes
        self.mark(str(size))
        self.check_time()
        if size <= self._bytes:
            self._bytes -= size
            self.state.update(view)
            return
        self.exact = self.by_value = False
        length = self.limits.sample_size
        step = max((size - length) // (self.limits.samples - 1), 1)
        for offset in range(0, size - length + 1, step):
            self.state.update(view[offset : offset + length])

    def block(self, address: int, view: memoryview) -> None:
        """A buffer that other values may share, as the columns of a frame and what was taken from them do."""
        key = (address, view.nbytes)
        if not address or view.nbytes > self._bytes:
            self.buffer(view)
            return
        if key not in self._blocks:
            self.check_time()
            self._bytes -= view.nbytes
            self._blocks[key] = xxhash.xxh3_64_intdigest(view)
        self.mark(f"{view.nbytes}:{self._blocks[key]}")

    def sequence(self, value: Any, depth: int) -> None:
        """Put the items of a list into the digest, or some of them where it is long."""
        count = len(value)
        self.mark(str(count))
        if self._items < count <= self.limits.scalars and self._all_scalars(value):
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
        if is_of(value, deque):
            return (value[0], value[-1])
        some = max(min(self.limits.samples, self._items // weight), 1)
        return [value[index] for index in range(0, count, -(-count // some))] + [value[-1]]

    def _mapping(self, value: Any, depth: int) -> None:
        self.mark(str(len(value)))
        pairs: list[Any]
        weight = _weight(next(iter(value.values()), None))
        if len(value) * weight <= self._items:
            pairs = list(value.items())
        else:
            self.exact = False
            some = max(min(self.limits.samples, self._items // weight // 2), 1)
            pairs = [*islice(value.items(), some), *islice(reversed(value.items()), some)]
        for key, item in pairs:
            self.feed(key, depth + 1)
            self.feed(item, depth + 1)

    def _set(self, value: Any) -> None:
        items = list(islice(value, self.limits.items))
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
        if is_machinery(value):
            self._mark_identity(value)
            return
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


def _weight(item: object) -> int:
    """How many plain items one item of a container costs, judged by the first: arrays and frames are dear."""
    root = type(item).__module__.partition(".")[0]
    return {"numpy": 10, "torch": 10, "pandas": 100, "__main__": 3}.get(root, 1)


_FRAMEWORKS: tuple[tuple[str, str, Callable[[_Feeder, Any, int], None]], ...] = (
    ("numpy", "ndarray", feed_arrays.array),
    ("numpy", "generic", feed_arrays.numpy_scalar),
    ("torch", "Tensor", feed_torch.tensor),
    ("torch.nn", "Module", feed_torch.module),
    ("pandas", "DataFrame", feed_arrays.frame),
    ("pandas", "Series", feed_arrays.frame),
    ("pandas", "Index", feed_arrays.index),
    ("torch.optim", "Optimizer", feed_torch.optimizer),
    ("torch", "Generator", feed_torch.generator),
    ("numpy.random", "Generator", feed_arrays.bit_generator),
    ("numpy.random", "RandomState", feed_arrays.bit_generator),
    ("numpy.random", "BitGenerator", feed_arrays.bit_generator),
    ("random", "Random", feed_arrays.python_random),
    ("ipywidgets.widgets.widget", "Widget", feed_widgets.widget),
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
    except Exception:  # none, or one that the notebook's class computes
        return {}
    return found if type(found) is dict else {}
