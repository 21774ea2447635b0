"""Names that change while no cell runs, or that a thread changes beside one."""

from __future__ import annotations

import asyncio
import dis
import functools
import sys
import threading
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jupyter_clusterbridge.model.events import OutsideChange
from jupyter_clusterbridge.recorder.feeding import is_of
from jupyter_clusterbridge.recorder.fingerprints import Fingerprint, OutOfTime, clock, fingerprint, identity
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch
from jupyter_clusterbridge.runtime.session import utc_now

_BUDGET_S = 0.001
"""Time for fingerprints at each side, where anything can run between cells at all."""
_LIMIT = 200
_SHELLS = frozenset({"In", "Out", "get_ipython", "exit", "quit", "open"})
_ATOMS = (bool, int, float, complex, str, bytes, type(None), type, types.ModuleType, types.FunctionType)
_Ids = tuple[list[str], list[int]]
"""Names and the identities of their values: as lists, so that thousands are compared without a loop in Python."""


class NameWatch(Watch):
    """Compares the names that a cell left with those that the next one finds.

    What a thread or a task of the notebook binds while a cell runs is told from what the cell binds itself.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ids: _Ids | None = None
        self._prints: dict[str, Fingerprint] = {}
        self._writers: dict[str, str] = {}
        self._touched: set[str] = set()

    def stop(self) -> None:
        """Nothing was replaced."""
        self._ids, self._prints = None, {}

    def begin_cell(self) -> None:
        """Compare with what the last cell left."""
        left, self._ids = self._ids, _identities(self.scene.namespace)
        if left is not None:
            self._tell(_differing(left, self._ids) | self._changed_in_place(), self._writers)

    def end_cell(self, ended: Ended) -> None:
        """Compare where code of the notebook ran beside the cell, and remember."""
        begun, before = self._ids, self._writers
        total, space = analyse_cell(self.scene.source).total, self.scene.namespace
        self._touched |= total.stores | total.touches
        self._ids = _identities(space)
        self._writers, binds, mentions = _writers(space)
        others = {**before, **binds}
        if others and begun is not None and not total.opaque:
            own = total.binds | total.deletes | _reached(total.reads, space).writes
            changed = _differing(begun, self._ids) & others.keys() - own
            # a cell that waits takes what those made for whom it has waited
            self._tell(changed & binds.keys() if total.joins else changed, others)
        self._remember(mentions)

    def _tell(self, changed: Iterable[str], writers: Mapping[str, str]) -> None:
        at = utc_now()
        for name in sorted(changed):
            self.scene.emit(OutsideChange(self.scene.run, f"name:{name}", at, writers.get(name, "")))

    def _remember(self, mentions: set[str]) -> None:
        self._prints = {}
        names = mentions | (self._touched if "ipywidgets" in sys.modules else set())
        space, deadline = self.scene.namespace, clock() + _BUDGET_S
        try:
            for name in sorted(names & space.keys()):
                if name not in _SHELLS and not is_of(space[name], _ATOMS):
                    found = fingerprint(space[name], deadline)
                    # a widget or a figure changes inside as it is shown, and only that it is data is certain
                    self._prints.update({name: found} if found.exact else {})
        except OutOfTime:
            return

    def _changed_in_place(self) -> set[str]:
        space, deadline = self.scene.namespace, clock() + _BUDGET_S
        prints, self._prints = self._prints, {}
        found: set[str] = set()
        try:
            for name, before in prints.items():
                same = name in space and before.identity == identity(space[name])
                if same and fingerprint(space[name], deadline).digest != before.digest:
                    found.add(name)
        except OutOfTime:
            pass
        return found


def _identities(space: Mapping[str, Any]) -> _Ids:
    return list(space), list(map(identity, list(space.values())))


def _differing(before: _Ids, now: _Ids) -> set[str]:
    if before == now:
        return set()
    old, new = (dict(zip(*ids, strict=False)) for ids in (before, now))
    found = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return {name for name in found if type(name) is str and not name.startswith("_")} - _SHELLS


def _writers(space: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """Who can change names from now on, ``thread`` or ``task`` by name; who can bind them; what they mention."""
    binds: dict[str, str] = {}
    mentions: dict[str, str] = {}
    for by, code in _running(space):
        own = _uses_of(code)
        reached = _reached(own.names, space)
        binds.update(dict.fromkeys(own.writes | reached.writes, by))
        mentions.update(dict.fromkeys((own.names | reached.names) & space.keys(), by))
    return {**mentions, **binds}, binds, set(mentions)


class _Uses(NamedTuple):
    """Global names that code mentions, and those among them that it binds; inner functions included."""

    names: frozenset[str]
    writes: frozenset[str]


@functools.lru_cache(maxsize=1024)
def _uses_of(code: types.CodeType) -> _Uses:
    stores = {one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    inner = [_uses_of(constant) for constant in code.co_consts if is_of(constant, types.CodeType)]
    return _Uses(
        frozenset(code.co_names).union(*(one.names for one in inner)),
        frozenset(stores).union(*(one.writes for one in inner)),
    )


def mentioned_by(callbacks: Iterable[object], space: Mapping[str, Any]) -> set[str]:
    """Global names of the notebook that callbacks use when they are called."""
    found: set[str] = set()
    for callback in callbacks:
        function = _function(callback)
        if function is not None and function.__globals__ is space:
            own = _uses_of(function.__code__)
            found |= own.names | _reached(own.names, space).names
    return found & space.keys()


def _reached(names: Iterable[str], space: Mapping[str, Any]) -> _Uses:
    """What the functions of the notebook use that names lead to."""
    found: set[str] = set()
    writes: set[str] = set()
    seen: set[str] = set()
    queue = list(names)
    while queue and len(seen) < _LIMIT:
        name = queue.pop()
        function = _function(space.get(name)) if name not in seen else None
        seen.add(name)
        if function is not None and function.__globals__ is space:
            used = _uses_of(function.__code__)
            found |= used.names
            writes |= used.writes
            queue.extend(used.names)
    return _Uses(frozenset(found), frozenset(writes))


def _function(value: Any) -> types.FunctionType | None:
    while is_of(value, (functools.partial, types.MethodType)):
        value = value.func if is_of(value, functools.partial) else value.__func__
    return value if is_of(value, types.FunctionType) else None


def _running(space: Mapping[str, Any]) -> Iterator[tuple[str, types.CodeType]]:
    """Code of the notebook that runs on beside the cells, in threads and in tasks."""
    mine = {threading.main_thread().ident, threading.get_ident()}
    for thread, top in sys._current_frames().items():
        frame = top if thread not in mine else None
        for _ in range(_LIMIT):
            if frame is None:
                break
            if frame.f_globals is space:
                yield "thread", frame.f_code
            frame = frame.f_back
    for task in _tasks():
        step: Any = task.get_coro()
        for _ in range(_LIMIT):
            inner = getattr(step, "cr_frame", None) or getattr(step, "gi_frame", None)
            if inner is None:
                break
            if inner.f_globals is space:
                yield "task", inner.f_code
            step = getattr(step, "cr_await", None) or getattr(step, "gi_yieldfrom", None)


def _tasks() -> set[Any]:
    try:
        return asyncio.all_tasks() - {asyncio.current_task()}
    except RuntimeError:  # no loop runs
        return set()
