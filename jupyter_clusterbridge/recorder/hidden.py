"""State that lies in what does not look like data: in functions, iterators and open files."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Iterator
from typing import cast

from jupyter_clusterbridge.recorder.feeding import is_of

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_MACHINERY = (
    ("logging", "Logger"),
    ("logging", "Handler"),
    ("threading", "Thread"),
    ("threading", "Event"),
    ("asyncio", "Future"),
    ("asyncio", "AbstractEventLoop"),
    ("concurrent.futures", "Executor"),
    ("concurrent.futures", "Future"),
    ("matplotlib.artist", "Artist"),
)


def is_consumed(value: object) -> bool:
    """Whether going through a value uses it up: an iterator, a generator, an open file.

    >>> is_consumed(iter([1])), is_consumed([1])
    (True, False)
    """
    return hasattr(type(value), "__next__")


def is_open_file(value: object) -> bool:
    """Whether a value is an open file, whose every use moves its position."""
    return is_of(value, io.IOBase)


def is_machinery(value: object) -> bool:
    """Whether a value changes as it is used and feeds nothing: a logger, a thread, a task, a part of a figure.

    >>> import threading
    >>> is_machinery(threading.Thread()), is_machinery([])
    (True, False)
    """
    loaded = ((sys.modules.get(module), name) for module, name in _MACHINERY)
    return is_of(value, tuple(getattr(module, name) for module, name in loaded if hasattr(module, name)))


def is_notebook_object(value: object) -> bool:
    """Whether code of the notebook runs when a value is merely looked at: its class is defined in a cell."""
    return any(base.__module__ == "__main__" for base in type(value).__mro__[:-1])


def holds_state(value: object) -> bool:
    """Whether a function or a method keeps something between calls.

    >>> def counter(seen=[]): ...
    >>> holds_state(counter), holds_state(len)
    (False, False)
    >>> import random
    >>> holds_state(random.randrange), holds_state(random.Random(1).randrange)
    (False, True)
    """
    if is_of(value, types.MethodType):
        owner = value.__self__
        return not (is_of(owner, _CODE) or is_machinery(owner) or owner is _python_stream())
    own = is_of(value, types.FunctionType) and value.__module__ == "__main__"
    return own and any(True for _ in state_of(cast(types.FunctionType, value)))


def _python_stream() -> object:
    """The object behind ``random.random`` and the others, whose state is that of a random stream."""
    return getattr(sys.modules.get("random"), "_inst", _PLAIN)


def state_of(function: types.FunctionType) -> Iterator[object]:
    """What a function of the notebook keeps: variables of its closure, defaults that can change, attributes."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # a variable of the outer function that is not bound yet
            continue
        if not is_of(content, _CODE):
            yield content
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from (value for value in defaults if not is_of(value, (*_PLAIN, *_CODE)))
    yield from (value for name, value in vars(function).items() if name != "__wrapped__")
