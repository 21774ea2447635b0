"""Modules of the person's own: what is imported from their folders, not from Python or an environment."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
import types


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    found = {path for path in sysconfig.get_paths().values() if path}
    found |= {*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.__file__)}
    found.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return tuple(sorted(os.path.abspath(path) + os.sep for path in found))


def local_source(module: object) -> str | None:
    """Path of the source of a module of the person's own; None for every other module.

    >>> local_source(os) is None
    True
    """
    if not isinstance(module, types.ModuleType):
        return None
    return _local_path(getattr(module, "__file__", None), module.__name__)


def is_local(module: object) -> bool:
    """Whether a module is the person's own."""
    return local_source(module) is not None


@functools.lru_cache(maxsize=8192)
def _local_path(source: object, name: str) -> str | None:
    if not isinstance(source, str) or not source.endswith(".py") or not os.path.isabs(source):
        return None
    if name in ("__main__", "clusterbridge") or (os.sep + "site-packages" + os.sep) in source:
        return None
    path = os.path.abspath(source)
    return None if path.startswith((*_installed(), sys.prefix + os.sep)) else path
