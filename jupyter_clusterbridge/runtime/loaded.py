"""Which installed distributions are in memory, and whether the disk has changed since they were loaded."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType

from jupyter_clusterbridge.model.environment import Distribution, SourceKind
from jupyter_clusterbridge.runtime.distributions import Installed, normalise, recorded_paths

OWN_NAMES = ("jupyter-clusterbridge", "jupyter-clusterbridge-runtime")
_OWN_MODULES = ("jupyter_clusterbridge", "clusterbridge")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_VERSION = re.compile(r"\d+(\.\d+)+([a-z.+-]\w*)*")


@dataclass
class _Seen:
    """What stood on disk when a distribution was first seen in memory."""

    spec: object
    """The import spec of its module: another one after a reload, so that the record starts anew."""
    version: str
    stamp: int
    at_ns: int
    source: SourceKind
    requires: tuple[str, ...]


_seen: dict[str, _Seen] = {}


def describe(
    distributions: Mapping[str, Installed], *, loaded: bool, imports: Collection[str] = ()
) -> tuple[Distribution, ...]:
    """All distributions by name, with ``loaded`` and ``installed_after_import`` where ``loaded`` asks for it.

    Otherwise those count as loaded that the top-level modules ``imports`` belong to.
    """
    if not loaded:
        named = set(imports)
        plain = (_plain(distributions[name]) for name in sorted(distributions))
        return tuple(
            replace(dist, loaded=not named.isdisjoint(distributions[dist.name].modules)) for dist in plain
        )
    modules = loaded_modules(distributions)
    wanted = _without_own(distributions, modules)
    described = {
        name: _describe(entry, modules.get(name), name in wanted) for name, entry in distributions.items()
    }
    for name, seen in _seen.items():
        if name not in described and name not in OWN_NAMES:
            described[name] = Distribution(
                name, seen.version, seen.source, None, True, seen.version, True, seen.requires
            )
    return tuple(described[name] for name in sorted(described))


def _plain(entry: Installed) -> Distribution:
    return Distribution(entry.name, entry.version, entry.source, entry.origin, requires=entry.requires)


def _describe(entry: Installed, module: ModuleType | None, wanted: bool) -> Distribution:
    if module is None:
        _seen.pop(entry.name, None)
        return _plain(entry)
    version, changed = _remember(entry, module)
    return Distribution(
        name=entry.name,
        version=entry.version,
        source=entry.source,
        origin=entry.origin,
        loaded=wanted,
        loaded_version=version if version != entry.version else None,
        installed_after_import=changed,
        requires=entry.requires,
    )


def _remember(entry: Installed, module: ModuleType) -> tuple[str, bool]:
    """The version in memory, and whether the disk holds another installation by now."""
    spec = getattr(module, "__spec__", None)
    seen = _seen.get(entry.name)
    if seen is None or seen.spec is not spec:
        version = _first_version(entry, module)
        seen = _Seen(spec, version, entry.stamp, time.time_ns(), entry.source, entry.requires)
        _seen[entry.name] = seen
    changed = seen.version != entry.version or (entry.stamp != seen.stamp and entry.stamp > seen.at_ns)
    return seen.version, changed


def _first_version(entry: Installed, module: ModuleType) -> str:
    """The version that was on disk when the module was loaded, at the first sight of it.

    Installed before this process began: the one on disk. Later: the module's own ``__version__`` decides,
    where it has the form of a version.
    """
    if entry.stamp < _process_start_ns():
        return entry.version
    own = vars(module).get("__version__")
    return own if isinstance(own, str) and _VERSION.fullmatch(own) else entry.version


@functools.cache
def _process_start_ns() -> int:
    try:
        import psutil

        return int(psutil.Process().create_time() * 1e9)
    except (ImportError, OSError):
        return 0


def loaded_modules(distributions: Mapping[str, Installed]) -> dict[str, ModuleType]:
    """For each distribution that is in memory, one of its modules."""
    tops = {name: module for name, module in list(sys.modules.items()) if "." not in name and module is not None}
    owners: dict[str, list[Installed]] = {}
    for entry in distributions.values():
        for module_name in entry.modules:
            if module_name in tops:
                owners.setdefault(module_name, []).append(entry)
    found: dict[str, ModuleType] = {}
    for module_name, entries in owners.items():
        module = tops[module_name]
        if len(entries) == 1 and getattr(module, "__file__", None):
            if _lies_in(module, entries[0].roots):
                found[entries[0].name] = module
        else:
            for entry in entries:
                inner = _shared(module_name, entry)
                if inner is not None:
                    found[entry.name] = inner
    return found


def _lies_in(module: ModuleType, roots: Iterable[str]) -> bool:
    file = getattr(module, "__file__", None) or ""
    return any(file.startswith(root.rstrip(os.sep) + os.sep) for root in roots) or any(
        os.path.realpath(file).startswith(os.path.realpath(root) + os.sep) for root in roots
    )


def _shared(top: str, entry: Installed) -> ModuleType | None:
    """A loaded module below a namespace that belongs to this distribution and no other."""
    paths = recorded_paths(entry)
    editable = entry.source is SourceKind.EDITABLE
    for name, module in list(sys.modules.items()):
        if name != top and not name.startswith(top + "."):
            continue
        file = getattr(module, "__file__", None)
        if not file:
            continue
        if editable and _lies_in(module, entry.roots):
            return module
        for root in entry.roots:
            if file.startswith(root) and file[len(root) :].lstrip(os.sep).replace(os.sep, "/") in paths:
                return module
    return None


def closure(names: Iterable[str], distributions: Mapping[str, Installed]) -> set[str]:
    """The distributions that these need, themselves among them, whatever the markers say."""
    found: set[str] = set()
    queue = [name for name in names if name in distributions]
    while queue:
        name = queue.pop()
        if name in found:
            continue
        found.add(name)
        for line in distributions[name].requires:
            match = _REQUIREMENT.match(line)
            needed = normalise(match[1]) if match else ""
            if needed in distributions and "extra ==" not in line:
                queue.append(needed)
    return found


def _without_own(distributions: Mapping[str, Installed], modules: Mapping[str, ModuleType]) -> set[str]:
    """The loaded distributions, less those that only ClusterBridge itself has loaded.

    A distribution that ClusterBridge needs counts when another loaded one needs it too or when the user's
    own code refers to it; what the extension imports must not change the user's lock.
    """
    own = closure(OWN_NAMES, distributions)
    others = [name for name in modules if name not in own]
    needed = closure(others, distributions)
    referred: set[str] | None = None
    wanted = set()
    for name in modules:
        if name in OWN_NAMES or name not in own or name in needed:
            wanted.add(name)
            continue
        referred = _referred() if referred is None else referred
        if referred & distributions[name].modules:
            wanted.add(name)
    return wanted


def _referred() -> set[str]:
    """Top-level modules that the user's own namespaces refer to."""
    found: set[str] = set()
    for namespace in _user_namespaces():
        for key, value in list(namespace.items()):
            if key.startswith("_") or key in ("In", "Out", "exit", "quit", "get_ipython"):
                continue
            name = value.__name__ if isinstance(value, ModuleType) else getattr(type(value), "__module__", None)
            if isinstance(value, type) or callable(value):
                with contextlib.suppress(Exception):
                    name = value.__module__
            if isinstance(name, str):
                found.add(name.partition(".")[0])
    return found


def _user_namespaces() -> Iterator[dict[str, object]]:
    prefixes = tuple({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)})
    for name, module in list(sys.modules.items()):
        if name == "__main__":
            yield vars(module)
        elif isinstance(module, ModuleType) and name.partition(".")[0] not in _OWN_MODULES:
            file = getattr(module, "__file__", None)
            if file and "-packages" + os.sep not in file and not os.path.realpath(file).startswith(prefixes):
                yield vars(module)
