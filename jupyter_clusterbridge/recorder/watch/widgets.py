"""Widgets that a person moved in the front end; what the notebook's own code sets is no such move."""

from __future__ import annotations

import datetime
import functools
import sys
import time
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from jupyter_clusterbridge.model.events import WidgetMoved
from jupyter_clusterbridge.recorder.fingerprints import OutOfTime, clock, fingerprint, identity
from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch
from jupyter_clusterbridge.recorder.watch.names import mentioned_by
from jupyter_clusterbridge.runtime.patches import Patches
from jupyter_clusterbridge.runtime.session import utc_now

_VALUES = ("value", "index")
"""Traits by which a person sets a widget of ipywidgets; others are how it looks."""
_LOOKS = frozenset({"layout", "style", "tooltip", "tabbable", "width", "height", "size", "comm", "keys"})
_SCALARS = (bool, int, float, str, type(None), datetime.date, datetime.datetime, datetime.time)
_PAUSE_S = 1.0
"""A slider sends a message for each pixel: one event a second is written of them."""
_LIMIT_S = 0.002
"""Time for a look at what callbacks may change, before and after each message."""
_LENGTH = 60
_DEPTH = 3
_Key = tuple[int, str]


class WidgetWatch(Watch):
    """Wraps what ipywidgets calls for each message of the front end, once the user's code has imported it."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._patches = Patches()
        self._waiting: dict[_Key, WidgetMoved] = {}
        self._written_at = 0.0

    def start(self) -> None:
        """Wrap, if it is there already."""
        self._wrap()

    def stop(self) -> None:
        """Put back what was there."""
        self._patches.undo()
        self._write()

    def begin_cell(self) -> None:
        """Write what was moved since the last cell."""
        self._write()

    def end_cell(self, ended: Ended) -> None:
        """Wrap, if the cell has imported it."""
        self._wrap()

    def _wrap(self) -> None:
        module = sys.modules.get("ipywidgets.widgets.widget")
        if self._patches.active or module is None or not hasattr(module, "Widget"):
            return
        self._patches.replace(module.Widget, "set_state", self._set_state)
        self._patches.replace(module.Widget, "_handle_custom_msg", self._custom)

    def _set_state(self, original: Any) -> Any:
        patches = self._patches

        @functools.wraps(original)
        def set_state(widget: Any, sync_data: Any) -> Any:
            # only a message of the front end comes this way; a program may call the method as well
            if not patches.active or sys._getframe(1).f_code.co_name != "_handle_msg":
                return original(widget, sync_data)
            before: list[Any] = []
            self.guarded(self._before, widget, sync_data, before)
            try:
                return original(widget, sync_data)
            finally:
                if before and patches.active:
                    self.guarded(self._after, widget, *before)

        return set_state

    def _custom(self, original: Any) -> Any:
        patches = self._patches

        @functools.wraps(original)
        def _handle_custom_msg(widget: Any, content: Any, buffers: Any) -> Any:
            before: list[Any] = []
            if patches.active and isinstance(content, dict) and content.get("event") == "click":
                self.guarded(self._before, widget, {"click": None}, before)
            try:
                return original(widget, content, buffers)
            finally:
                if before and patches.active:
                    self.guarded(self._after, widget, *before)

        return _handle_custom_msg

    def _before(self, widget: Any, sync_data: Mapping[str, Any], before: list[Any]) -> None:
        traits = [name for name in sync_data if name == "click" or _by_hand(widget, name)]
        if traits:
            values = {trait: _shown(widget, trait) for trait in traits}
            space = self.scene.namespace
            names = dict(zip(list(space), map(identity, space.values()), strict=False))
            prints = _prints(mentioned_by(_callbacks(widget, traits), space), space)
            before.extend((values, names, prints))

    def _after(
        self, widget: Any, values: dict[str, str | None], names: dict[str, int], prints: dict[str, int]
    ) -> None:
        space = self.scene.namespace
        changed = {n for n, v in space.items() if names.get(n) != identity(v) and n[:1] != "_"}
        changed |= {name for name, found in _prints(prints, space).items() if found != prints[name]}
        bound = tuple(sorted(changed))
        for trait, old in values.items():
            new = _shown(widget, trait)
            if trait != "click" and old == new and old is not None:
                continue
            self._note((identity(widget), trait), widget, trait, old, new, bound)
        if time.monotonic() - self._written_at > _PAUSE_S:
            self._write()

    def _note(
        self, key: _Key, widget: Any, trait: str, old: str | None, new: str | None, bound: tuple[str, ...]
    ) -> None:
        waiting = self._waiting.get(key)
        if waiting is not None:
            writes = tuple(sorted({*waiting.writes, *bound}))
            self._waiting[key] = replace(waiting, new=new, at=utc_now(), writes=writes)
            return
        description = getattr(widget, "description", "")
        self._waiting[key] = WidgetMoved(
            run=self.scene.run,
            widget=type(widget).__name__,
            description=description[:_LENGTH] if isinstance(description, str) else "",
            names=_holders(widget, self.scene.namespace),
            trait=trait,
            old=old,
            new=new,
            at=utc_now(),
            writes=bound,
        )

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, {}
        self._written_at = time.monotonic()
        for event in waiting.values():
            if event.old != event.new or event.old is None:
                self.scene.emit(event)


def _callbacks(widget: Any, traits: list[str]) -> Iterator[object]:
    """What is called when a widget is clicked or its traits change, the function of ``interact`` among it."""
    yield from getattr(getattr(widget, "_click_handlers", None), "callbacks", ())
    notifiers = getattr(widget, "_trait_notifiers", {})
    for trait in {*traits, *_VALUES, "label"}:
        for handler in notifiers.get(trait, {}).get("change", ()):
            yield getattr(getattr(handler, "__self__", None), "f", handler)


def _prints(names: Iterable[str], space: Mapping[str, Any]) -> dict[str, int]:
    """What data holds, as far as that is known for certain within the time."""
    found: dict[str, int] = {}
    deadline = clock() + _LIMIT_S
    try:
        for name in sorted(names):
            value = space.get(name)
            if not isinstance(value, (type, types.ModuleType, types.FunctionType)):
                seen = fingerprint(value, deadline)
                found.update({name: seen.digest} if seen.exact else {})
    except OutOfTime:
        pass
    return found


def _by_hand(widget: Any, trait: str) -> bool:
    """Whether a trait is what a person sets, and not how the widget looks."""
    if trait not in widget.keys or trait.startswith("_") or trait in _LOOKS:
        return False
    if trait in _VALUES:
        return True
    return not type(widget).__module__.startswith("ipywidgets.") and isinstance(getattr(widget, trait), _SCALARS)


def _shown(widget: Any, trait: str) -> str | None:
    """A value in words; None where it must not be written down."""
    if trait == "click" or type(widget).__name__ in ("Password", "FileUpload"):
        return None
    value = getattr(widget, trait)
    if trait == "index":
        value = getattr(widget, "label", value)
    plain = isinstance(value, _SCALARS) or (
        isinstance(value, (tuple, list)) and all(isinstance(item, _SCALARS) for item in value)
    )
    text = repr(value) if plain else f"an object of {type(value).__name__}"
    return text if len(text) <= _LENGTH else text[: _LENGTH - 1] + "…"


def _holders(widget: Any, space: Mapping[str, Any]) -> tuple[str, ...]:
    """Variables that hold a widget, itself or in a box, a list or a dictionary."""
    named = {name: value for name, value in list(space.items()) if name[:1] != "_"}
    direct = [name for name, value in named.items() if value is widget]
    return tuple(sorted(direct or [name for name, value in named.items() if _holds(value, widget, _DEPTH)]))


def _holds(value: Any, widget: Any, depth: int) -> bool:
    return depth > 0 and any(part is widget or _holds(part, widget, depth - 1) for part in _parts(value))


def _parts(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        yield from value[:100]
    elif type(value) is dict:
        yield from list(value.values())[:100]
    elif isinstance(value, sys.modules["ipywidgets.widgets.widget"].Widget):
        children = getattr(value, "children", ())
        yield from children if isinstance(children, (list, tuple)) else ()
