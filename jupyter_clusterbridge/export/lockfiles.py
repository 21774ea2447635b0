"""Adding our own runtime, which no index serves, to a resolved lock."""

from __future__ import annotations

import dataclasses
import hashlib

from jupyter_clusterbridge.export.runtime_wheel import NAME, wheel_name
from jupyter_clusterbridge.model.bundle import WHEELS_FOLDER
from jupyter_clusterbridge.model.environment import SourceKind
from jupyter_clusterbridge.model.lock import Lock, LockedFile, LockedPackage
from jupyter_clusterbridge.model.version import VERSION


@dataclasses.dataclass(frozen=True)
class LockFiles:
    """A lock and its two files as text."""

    lock: Lock
    pylock: str
    requirements: str


def with_runtime(files: LockFiles, wheel: bytes) -> LockFiles:
    """The lock with the runtime's wheel in it, named by its hash.

    Args:
        files: a lock without the runtime.
        wheel: content of the runtime's wheel.
    """
    version = VERSION
    sha256 = hashlib.sha256(wheel).hexdigest()
    package = LockedPackage(NAME, version, SourceKind.WHEEL, (LockedFile(wheel_name(), sha256, shipped=True),))
    packages = tuple(sorted((*files.lock.packages, package), key=lambda package: package.name))
    path = f"{WHEELS_FOLDER}/{wheel_name()}"
    pylock = f"""
[[packages]]
name = "{NAME}"
version = "{version}"
wheels = [{{ name = "{wheel_name()}", path = "{path}", hashes = {{ sha256 = "{sha256}" }} }}]
"""
    return LockFiles(
        dataclasses.replace(files.lock, packages=packages),
        files.pylock.rstrip("\n") + "\n" + pylock,
        files.requirements.rstrip("\n") + f"\n{NAME}=={version} \\\n    --hash=sha256:{sha256}\n",
    )
