"""Which distributions a job needs: what the kernel loaded, what these need, and the runtime's own needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.pin.target import Target, marker_environment
from jupyter_clusterbridge.runtime.loaded import OWN_NAMES

RUNTIME_NEEDS = {
    "ipykernel": "ipykernel>=6.29",
    "ipython": "ipython>=8.18",
    "nbclient": "nbclient>=0.10",
    "nbformat": "nbformat>=5.10",
    "psutil": "psutil>=5.9",
    "xxhash": "xxhash>=3.4",
}
"""What the part of ClusterBridge that runs in a job needs, by normalised name."""


@dataclass(frozen=True)
class Selection:
    """The distributions to lock, and what has to be resolved afresh."""

    chosen: tuple[Distribution, ...]
    """Sorted by name."""
    missing: tuple[str, ...]
    """Requirements that the environment does not satisfy, for example ``nbclient>=0.10``."""


def select(environment: Environment, target: Target, *, scope: str, imports: Collection[str]) -> Selection:
    """Choose the distributions for a job.

    Args:
        environment: what the kernel or interpreter has.
        target: decides which environment markers hold.
        scope: ``used`` for the closure of what was loaded (or imported by name), ``all`` for everything.
        imports: top-level modules that the notebook imports, for an environment where nothing is loaded.
    """
    index = {dist.name: dist for dist in environment.distributions if dist.name not in OWN_NAMES}
    if scope == "all":
        roots: set[str] = set(index) - _only_for_us(environment, target)
    else:
        wanted = {canonicalize_name(name) for name in imports}
        roots = {name for name, dist in index.items() if dist.loaded or name in wanted}
    if not target.runs_like(environment):
        roots -= _dropped(index, environment, target)
    roots |= {name for name in RUNTIME_NEEDS if name in index}
    found, missing = _closure(roots, index, target)
    missing |= {line for name, line in RUNTIME_NEEDS.items() if name not in index}
    chosen = tuple(index[name] for name in sorted(found))
    if target.runs_like(environment):
        # what the notebook ran without, it was tested without
        missing = {line for name, line in RUNTIME_NEEDS.items() if name not in index}
    return Selection(chosen, tuple(sorted(missing)))


def _closure(roots: Iterable[str], index: Mapping[str, Distribution], target: Target) -> tuple[set[str], set[str]]:
    found: set[str] = set()
    missing: set[str] = set()
    queue: list[tuple[str, str]] = [(name, "") for name in roots]
    done: set[tuple[str, str]] = set()
    while queue:
        item = queue.pop()
        if item in done:
            continue
        done.add(item)
        name, extra = item
        found.add(name)
        for requirement in _requirements(index[name], target, extra):
            needed = canonicalize_name(requirement.name)
            if needed in OWN_NAMES:
                continue
            if needed not in index:
                missing.add(_bare(requirement))
                continue
            queue += [(needed, ""), *((needed, canonicalize_name(inner)) for inner in requirement.extras)]
    return found, missing


def _requirements(dist: Distribution, target: Target, extra: str) -> Iterable[Requirement]:
    """The requirements that hold on the target; with an extra, only those that the extra adds."""
    plain = marker_environment(target)
    with_extra = marker_environment(target, extra)
    for line in dist.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        always = marker is None or marker.evaluate(dict(plain))
        if (always and not extra) or (
            extra and not always and marker is not None and marker.evaluate(dict(with_extra))
        ):
            yield requirement


def _dropped(index: Mapping[str, Distribution], environment: Environment, target: Target) -> set[str]:
    """Distributions that others needed on the notebook's platform, and that none needs on the target."""
    here = {**target.markers(), **_source_markers(environment)}
    there = target.markers()
    needed_here: set[str] = set()
    needed_there: set[str] = set()
    for dist in index.values():
        for line in dist.requires:
            try:
                requirement = Requirement(line)
            except InvalidRequirement:
                continue
            name = canonicalize_name(requirement.name)
            if requirement.marker is None or requirement.marker.evaluate(dict(here)):
                needed_here.add(name)
            if requirement.marker is None or requirement.marker.evaluate(dict(there)):
                needed_there.add(name)
    return needed_here - needed_there


def _source_markers(environment: Environment) -> dict[str, str]:
    systems = {"linux": ("Linux", "linux"), "darwin": ("Darwin", "darwin"), "windows": ("Windows", "win32")}
    system, sys_platform = systems.get(environment.system, ("", environment.system))
    return {
        "os_name": "nt" if environment.system == "windows" else "posix",
        "platform_machine": environment.machine,
        "platform_system": system,
        "sys_platform": sys_platform,
    }


def _bare(requirement: Requirement) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{canonicalize_name(requirement.name)}{extras}{requirement.specifier}"


def _only_for_us(environment: Environment, target: Target) -> set[str]:
    """Distributions that are installed because of ClusterBridge alone.

    Nothing says who asked for a package. Those in our own closure that no package outside it needs and that
    the kernel did not load are taken to be ours.
    """
    index = {dist.name: dist for dist in environment.distributions}
    ours, _ = _closure([name for name in OWN_NAMES if name in index], index, target)
    others, _ = _closure([name for name in index if name not in ours], index, target)
    return {name for name in ours - others if not index[name].loaded}
