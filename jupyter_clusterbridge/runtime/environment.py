"""The environment of the current process, read without importing anything that is not loaded yet."""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.runtime import hardware
from jupyter_clusterbridge.runtime.distributions import installed, site_stamps
from jupyter_clusterbridge.runtime.flags import (
    blas_libraries,
    framework_flags,
    numeric_variables,
    thread_counts,
    torch_cpu_capability,
    torch_state,
)
from jupyter_clusterbridge.runtime.loaded import describe, watched_references

_MACHINES = {"amd64": "x86_64", "arm64": "arm64", "aarch64": "aarch64"}
_tops: tuple[int, int] = (-1, 0)


def observe_environment(*, loaded: bool = True, imports: Collection[str] = ()) -> Environment:
    """Describe the current process: Python, packages, machine, thread counts and numeric settings.

    Repeated calls are cheap: package metadata is read again only where it has changed.

    Args:
        loaded: whether to say which packages are in memory and which were reinstalled since they were
            imported; False for an interpreter that was started only to look.
        imports: with ``loaded=False``, top-level modules whose distributions are marked as loaded.
    """
    machine = platform.machine()
    return Environment(
        python=platform.python_version(),
        implementation=sys.implementation.name,
        system=platform.system().lower(),
        machine=_MACHINES.get(machine.lower(), machine),
        libc=hardware.libc(),
        cpu_model=hardware.cpu_model(),
        cpu_capability=torch_cpu_capability() or hardware.cpu_capability(),
        cpu_count=hardware.cpu_count(),
        gpus=hardware.gpus(),
        distributions=describe(installed(), loaded=loaded, imports=imports),
        variables=numeric_variables(),
        threads=thread_counts(),
        flags=framework_flags(),
        blas=blas_libraries(),
    )


def loaded_fingerprint() -> int:
    """A number that changes when :func:`observe_environment` would say something else.

    It looks at the names of the imported top-level modules beyond the standard library, the times of the site
    folders and the settings of torch. It costs a few microseconds while no module is imported.
    """
    return hash((_top_level_names(), site_stamps(), torch_state(), watched_references()))


def _top_level_names() -> int:
    global _tops
    count = len(sys.modules)
    if count != _tops[0]:
        tops = frozenset(name for name in list(sys.modules) if "." not in name)
        _tops = (count, hash(tops - sys.stdlib_module_names))
    return _tops[1]
