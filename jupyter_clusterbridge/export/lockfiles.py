"""Adding our own runtime, which no index serves, to a resolved lock."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jupyter_clusterbridge.export.runtime_wheel import NAME
from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.environment import SourceKind
from jupyter_clusterbridge.model.lock import LockedFile, LockedPackage
from jupyter_clusterbridge.model.version import VERSION
from jupyter_clusterbridge.pin.resolve import ResolvedLock


def with_runtime(resolved: ResolvedLock, wheel: Path) -> ResolvedLock:
    """The lock with the runtime's wheel in it, named by its hash.

    Args:
        resolved: a lock without the runtime.
        wheel: the runtime's wheel.
    """
    file = LockedFile(wheel.name, digest_file(wheel).removeprefix("sha256:"), shipped=True)
    package = LockedPackage(NAME, VERSION, SourceKind.WHEEL, (file,))
    packages = tuple(sorted((*resolved.lock.packages, package), key=lambda package: package.name))
    lock = dataclasses.replace(resolved.lock, packages=packages)
    return dataclasses.replace(resolved.with_wheel(wheel), lock=lock)
