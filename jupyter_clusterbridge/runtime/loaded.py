"""Which installed distributions are in memory, and whether the disk has changed since they were loaded."""

from __future__ import annotations

import functools
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType

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


_RUNTIME_ROOTS = ("ipykernel", "ipython", "nbclient", "nbformat", "psutil", "xxhash")
_seen: dict[str, _Seen] = {}
_watched: set[str] = set()
_homes_cache: dict[str, tuple[dict[str, object], int, frozenset[str]]] = {}


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

    A distribution that ClusterBridge needs counts when a module outside of that circle refers to it: what
    the extension imports must not change the user's lock.
    """
    own = closure(OWN_NAMES, distributions)
    doubtful = [name for name in modules if name in own and name not in OWN_NAMES]
    wanted = set(modules) - set(doubtful)
    if doubtful:
        circle = {module for name in own for module in distributions[name].modules}
        referred = _referred(circle)
        wanted.update(name for name in doubtful if not referred.isdisjoint(distributions[name].modules))
    always = closure(_RUNTIME_ROOTS, distributions)
    _watched.clear()
    _watched.update(
        module for name in doubtful if name not in wanted | always for module in distributions[name].modules
    )
    return wanted


def watched_references() -> frozenset[str]:
    """Modules that so far only ClusterBridge has loaded and that the user's namespace refers to by now.

    Importing them changes nothing in ``sys.modules``. What a job has in any case is not watched, so that
    nothing is looked at until a command of ours has run in the kernel.
    """
    if not _watched:
        return frozenset()
    main = sys.modules.get("__main__")
    return frozenset(_homes("__main__", main) & _watched) if main is not None else frozenset()


def _referred(circle: Collection[str]) -> set[str]:
    """Top-level modules of the circle that the user's own code or a package outside of it refers to.

    Only types that cannot run code of their own are asked for their module: touching a lazy object would
    load what it stands for.
    """
    passed = {*circle, *_OWN_MODULES, *sys.stdlib_module_names} - {"__main__"}
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        if type(module) is ModuleType and name.partition(".")[0] not in passed:
            found |= _homes(name, module)
    return found & set(circle)


def _homes(name: str, module: ModuleType) -> frozenset[str]:
    """Top-level modules that the names of a module refer to; looked at again when names were added."""
    space = vars(module)
    if name in ("__main__", "__mp_main__"):
        # IPython puts its own names there, and keeps outputs under names with an underscore
        own = {"In", "Out", "exit", "quit", "get_ipython", "open"}
        return frozenset(
            _home(value) for key, value in list(space.items()) if key not in own and not key.startswith("_")
        )
    kept = _homes_cache.get(name)
    if kept is None or kept[0] is not space or kept[1] != len(space):
        kept = (space, len(space), frozenset(_home(value) for value in list(space.values())))
        _homes_cache[name] = kept
    return kept[2]


def _home(value: object) -> str:
    """The top-level module of what a value is, or of where it or its type was defined."""
    kind = type(value)
    if kind is ModuleType:
        home = vars(value).get("__name__")
    elif kind is FunctionType or kind is type:
        home = value.__module__
    else:
        home = kind.__module__
    return home.partition(".")[0] if isinstance(home, str) else ""
