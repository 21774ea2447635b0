"""Variables that a person changed at the prompt of a debugger while a cell stood still."""

from __future__ import annotations

import bdb
import cmd
import functools
import pdb
import sys
import types
from typing import Any

from jupyter_clusterbridge.model.state import InterventionKind
from jupyter_clusterbridge.recorder.fingerprints import Fingerprint, OutOfTime, clock, fingerprint
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.watch.base import Scene, Watch
from jupyter_clusterbridge.runtime.patches import Patches

BY_HAND = "changed by hand"
"""In each message about what was done at the prompt."""
_LIMIT_S = 0.02
_DEPTH = 60
_REMEDY = "write the change into the cell and take the stop out: a job has nobody at the debugger"
_Held = tuple[bool, Fingerprint | None]
_Found = dict[str, _Held]


def in_debugger() -> bool:
    """Whether the running code is a debugger's that asks a person."""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame is None:
            return False
        # only a debugger's own frame is looked into: to ask for the variables of others can undo what was typed
        if frame.f_code.co_name == "cmdloop" and isinstance(frame.f_locals.get("self"), bdb.Bdb):
            return True
        frame = frame.f_back
    return False


class DebuggerWatch(Watch):
    """Looks before and after each statement typed at pdb's prompt, and at what JupyterLab's debugger sets."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._patches = Patches()
        self._kernel: Any = None
        self._request: Any = None
        self._inside = 0

    def start(self) -> None:
        """Wrap; IPython has loaded pdb in any case."""
        for cls in _prompts(self.scene.shell):
            self._patches.replace(cls, "default", self._default)
        kernel = getattr(self.scene.shell, "kernel", None)
        if kernel is not None and "do_debug_request" not in vars(kernel) and hasattr(kernel, "do_debug_request"):
            self._kernel, self._request = kernel, self._watched(kernel.do_debug_request)
            kernel.do_debug_request = self._request

    def stop(self) -> None:
        """Put back what was there."""
        self._patches.undo()
        if self._kernel is not None and vars(self._kernel).get("do_debug_request") is self._request:
            del self._kernel.do_debug_request
        self._kernel = None

    def _default(self, original: Any) -> Any:
        patches = self._patches

        @functools.wraps(original)
        def default(debugger: Any, line: Any) -> Any:
            before: _Found = {}
            if patches.active and not self._inside:
                self.guarded(self._look, debugger, line, before)
            self._inside += 1  # the method of a class may call that of the class below
            try:
                return original(debugger, line)
            finally:
                self._inside -= 1
                if before and patches.active:
                    self.guarded(self._compare, debugger, line, before)

        return default

    def _look(self, debugger: Any, line: str, found: _Found) -> None:
        names = _changed_by(line)
        frame = debugger.curframe
        if not names or frame is None:
            return
        local = _locals(debugger, frame)
        deadline = clock() + _LIMIT_S
        for name in sorted(names):
            space = local if name in local or name not in frame.f_globals else frame.f_globals
            if space is local and local is not frame.f_globals and not _alive(frame):
                continue  # the function is over: nobody sees what it held
            found[name] = (name in space, _print(space[name], deadline) if name in space else None)

    def _compare(self, debugger: Any, line: str, before: _Found) -> None:
        after: _Found = {}
        self._look(debugger, line, after)
        changed = [name for name in before if name in after and _differs(before[name], after[name])]
        if changed:
            frame = debugger.curframe
            inside = "" if _locals(debugger, frame) is frame.f_globals else f" in `{frame.f_code.co_name}`"
            self._tell(changed, f"in the debugger{inside}")

    def _watched(self, original: Any) -> Any:
        @functools.wraps(original)
        def do_debug_request(message: Any) -> Any:
            if self._kernel is not None:
                self.guarded(self._requested, message)
            return original(message)

        return do_debug_request

    def _requested(self, message: Any) -> None:
        arguments = message.get("arguments") or {}
        if message.get("command") == "setVariable":
            names = {str(arguments.get("name", ""))} - {""}
        elif message.get("command") == "setExpression":
            names = _changed_for_sure(f"{arguments.get('expression')} = 0")
        elif message.get("command") == "evaluate":
            names = _changed_for_sure(str(arguments.get("expression", "")))
        else:
            return
        if names:
            self._tell(sorted(names), "in JupyterLab's debugger")

    def _tell(self, names: list[str], where: str) -> None:
        listed = ", ".join(f"`{name}`" for name in names)
        verb = "was" if len(names) == 1 else "were"
        message = f"{listed} {verb} {BY_HAND} {where} while the cell stood still"
        self.scene.intervene(InterventionKind.TYPED_INPUT, message, _REMEDY)


def _prompts(shell: Any) -> list[type]:
    """The classes that run what is typed: IPython has a method of its own in some versions, by a mixin."""
    classes = (*getattr(getattr(shell, "debugger_cls", None), "__mro__", ()), pdb.Pdb)
    return [cls for cls in dict.fromkeys(classes) if "default" in vars(cls) and cls is not cmd.Cmd]


def _changed_by(line: str) -> set[str]:
    """Names that a line at the prompt may change."""
    total = analyse_cell(line.strip().removeprefix("!").strip()).total
    return total.binds | total.stores | total.touches | total.deletes


def _changed_for_sure(line: str) -> set[str]:
    total = analyse_cell(line.strip()).total
    return total.binds | total.stores | total.deletes


def _differs(before: _Held, after: _Held) -> bool:
    (was, old), (now, new) = before, after
    if was is not now or old is None or new is None:
        return was is not now
    return old.digest != new.digest or (not (old.exact and new.exact) and old.identity != new.identity)


def _locals(debugger: Any, frame: types.FrameType) -> dict[str, Any]:
    # a frame's own dictionary would be filled anew when it is asked for, before Python 3.13
    held = getattr(debugger, "curframe_locals", None)
    found: dict[str, Any] = held if held is not None else frame.f_locals
    return found


def _alive(frame: types.FrameType) -> bool:
    current: types.FrameType | None = sys._getframe(1)
    while current is not None and current is not frame:
        current = current.f_back
    return current is not None


def _print(value: object, deadline: float) -> Fingerprint | None:
    try:
        return fingerprint(value, deadline)
    except OutOfTime:
        return None
