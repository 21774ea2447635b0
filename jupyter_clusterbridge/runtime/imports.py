"""Notice the moment when a framework has been imported, also in the middle of a cell."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


class ImportWatch(importlib.abc.MetaPathFinder):
    """A finder in front of the others that finds nothing itself.

    For a watched module it asks the other finders and lends the spec a loader that calls back after the module's
    code has run. The loader puts the true one back before that code runs, so that the module shows no trace.
    """

    def __init__(self, modules: set[str], callback: Callable[[], None]) -> None:
        self._modules = modules
        self._callback = callback

    def start(self) -> None:
        """Begin to watch."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Stop; idempotent."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Let the others find a watched module, and lend its spec our loader."""
        if fullname not in self._modules:
            return None
        for finder in sys.meta_path:
            if isinstance(finder, ImportWatch) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _LentLoader(spec.loader, spec, self._callback)
                return spec
        return None


class _LentLoader(importlib.abc.Loader):
    def __init__(
        self,
        loader: importlib.abc.Loader,
        spec: importlib.machinery.ModuleSpec,
        callback: Callable[[], None],
    ) -> None:
        self._loader = loader
        self._spec = spec
        self._callback = callback

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        # still marked as initializing until we return, although all of its code has run
        self._spec._initializing = False  # type: ignore[attr-defined]
        self._callback()
