"""The source of the user's own modules: what is in memory against what lies on disk."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.events import ModuleSource
from jupyter_clusterbridge.recorder.watch.base import Ended, Scene, Watch
from jupyter_clusterbridge.runtime.file_places import Places
from jupyter_clusterbridge.runtime.locations import portable_path
from jupyter_clusterbridge.runtime.session import utc_now

_OWN = ("jupyter_clusterbridge", "clusterbridge")
_LIMIT = 500
"""Modules followed; a project of more is followed in part."""
_State = tuple[int, int, int]


@dataclass
class _Known:
    """One module."""

    path: str
    spec: object
    """Another one after a reload."""
    state: _State | None
    """Of the file: time of change, size, inode."""
    loaded: str
    """Digest of the source in memory."""
    disk: str


class ModuleWatch(Watch):
    """Asks after each cell for new modules, reloads and changed files: one ``stat`` a module of the user's."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._places = Places(scene.root)
        self._known: dict[str, _Known] = {}
        self._seen: set[str] = set()
        self._mark: tuple[int, str] = (0, "")

    def stop(self) -> None:
        """Nothing was replaced."""
        self._known = {}

    def end_cell(self, ended: Ended) -> None:
        """Write what is another one than before."""
        for name, known in tuple(self._known.items()):
            self._look(name, known)
        mark = (len(sys.modules), next(reversed(sys.modules), ""))
        if mark != self._mark:
            self._mark = mark
            self._find_new()

    def _find_new(self) -> None:
        names = set(sys.modules)
        fresh, self._seen = names - self._seen, names
        for name in sorted(fresh):
            path = self._own_source(name, sys.modules.get(name))
            digest = _digest(path) if path is not None and len(self._known) < _LIMIT else None
            if path is None or digest is None:
                continue
            spec = getattr(sys.modules[name], "__spec__", None)
            self._known[name] = _Known(path, spec, _state(path), digest, digest)
            self._write(name, self._known[name], "loaded")

    def _own_source(self, name: str, module: ModuleType | None) -> str | None:
        source = getattr(module, "__file__", None)
        if not isinstance(source, str) or not source.endswith(".py") or not os.path.isabs(source):
            return None
        if name.partition(".")[0] in _OWN or name in ("__main__", "__mp_main__"):
            return None
        path = os.path.abspath(source)
        return path if self._places.ours(path) else None

    def _look(self, name: str, known: _Known) -> None:
        module, state = sys.modules.get(name), _state(known.path)
        if module is None or state is None:
            return
        spec = getattr(module, "__spec__", None)
        if state == known.state and spec is known.spec:
            return
        disk = _digest(known.path)
        if disk is None:
            return
        before = (known.loaded, known.disk)
        how = "reloaded" if spec is not known.spec else "changed"
        if (how == "changed" and self._autoreloaded(name, state)) or (
            how == "reloaded" and self._autoreloaded(name, state)
        ):
            how = "autoreloaded"
        known.spec, known.state, known.disk = spec, state, disk
        if how != "changed":
            known.loaded = disk
        elif known.loaded == disk:
            how = "loaded"
        if (known.loaded, known.disk) != before:
            self._write(name, known, how)

    def _autoreloaded(self, name: str, state: _State) -> bool:
        """Whether autoreload has taken the file in this state: it patches some modules without a reload."""
        magics = self.scene.shell.magics_manager.registry.get("AutoreloadMagics")
        reloader = getattr(magics, "_reloader", None)
        if reloader is None:
            return False
        taken = getattr(reloader, "modules_mtimes", {}).get(name)
        failed = getattr(reloader, "failed", {})
        return taken is not None and abs(taken - state[0] / 1e9) < 1e-3 and taken not in failed.values()

    def _write(self, name: str, known: _Known, how: str) -> None:
        path = portable_path(known.path, self.scene.root)
        self.scene.emit(ModuleSource(self.scene.run, name, path, known.disk, how, utc_now()))


def _state(path: str) -> _State | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(path: str) -> str | None:
    try:
        return digest_file(Path(path))
    except OSError:
        return None
