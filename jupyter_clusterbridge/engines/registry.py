"""Engines by name; an engine's module is imported when it is asked for."""

from __future__ import annotations

import importlib

from jupyter_clusterbridge.engines.base import Engine
from jupyter_clusterbridge.model.errors import EngineUnavailable

_TARGETS = {
    "local": ("jupyter_clusterbridge.engines.targets.local", "LocalEngine"),
    "docker": ("jupyter_clusterbridge.engines.targets.docker", "DockerEngine"),
}

ENGINE_NAMES: tuple[str, ...] = tuple(_TARGETS)
"""All engines, the default first."""


def get_engine(name: str) -> Engine:
    """The engine of a name.

    Raises:
        EngineUnavailable: there is none of that name, or the library that it needs is not installed.
    """
    if name not in _TARGETS:
        raise EngineUnavailable(f"there is no engine named {name!r}; there are {', '.join(ENGINE_NAMES)}")
    module, class_name = _TARGETS[name]
    try:
        engine: Engine = getattr(importlib.import_module(module), class_name)()
    except ImportError as error:
        raise EngineUnavailable(
            f"the engine {name!r} needs the Python package {error.name!r}, which is not installed",
            hint=f"Install it with: pip install {error.name}",
        ) from None
    return engine


def all_engines() -> tuple[Engine, ...]:
    """Every engine whose library is installed, the default first."""
    found = []
    for name in ENGINE_NAMES:
        try:
            found.append(get_engine(name))
        except EngineUnavailable:
            continue
    return tuple(found)
