"""What every part of a fingerprint needs: identities, the clock, and the digest under way."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_T = TypeVar("_T")
identity = object.__hash__
"""Another number for each object alive, as ``id`` gives it; but ``id`` raises an audit event at each call."""
clock = time.thread_time
"""Time that our own work took: on a busy machine a wall clock would give up on values that cost microseconds."""


class OutOfTime(Exception):
    """The time limit of the cell was used up."""


class Limits(NamedTuple):
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


class Feeder(Protocol):
    """One digest under way."""

    state: Any
    """The hash."""
    exact: bool
    """Whether an equal digest will prove that nothing changed."""
    by_value: bool
    """Whether it is of plain data alone so far."""
    limits: Limits

    def mark(self, text: str) -> None:
        """Put a text into the digest."""

    def feed(self, value: Any, depth: int) -> None:
        """Put a value into the digest."""

    def sequence(self, value: Any, depth: int) -> None:
        """Put the items of a list into the digest, or some of them where it is long."""

    def buffer(self, view: memoryview) -> None:
        """Put memory into the digest, in full while the value has not used up its bytes."""

    def block(self, address: int, view: memoryview) -> None:
        """The same for memory that other values may share; the address is 0 where that does not matter."""

    def check_time(self) -> None:
        """Raise :class:`OutOfTime` when the time is used up."""


def is_a(value: object, module: str, name: str) -> bool:
    """Whether a value is of a class of a module, without importing that."""
    loaded = sys.modules.get(module)
    cls = loaded.__dict__.get(name) if loaded is not None else None
    return isinstance(cls, type) and issubclass(type(value), cls)


@overload
def is_of(value: object, kinds: type[_T]) -> TypeIs[_T]: ...


@overload
def is_of(value: object, kinds: tuple[type, ...]) -> bool: ...


def is_of(value: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether a value is of a class, by its type alone: ``isinstance`` runs the ``__class__`` of a proxy.

    >>> is_of(True, int), is_of(1, (str, bytes))
    (True, False)
    """
    return issubclass(type(value), kinds)
