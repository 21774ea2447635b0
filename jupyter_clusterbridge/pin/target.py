"""The platform that a job runs on: markers, wheel tags and the resolver's name for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import LockFailed

_MACHINES = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}
_SAME_MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}
_GLIBC = re.compile(r"glibc 2\.(\d+)")
_OLDEST_GLIBC = 28
_NEWEST_GLIBC = 36
"""That of the default base image; wheels for a newer one need not run there."""
_UNKNOWN_TO_UV = (29, 30)
_NO_WHEEL = 1 << 30


@dataclass(frozen=True)
class Target:
    """Where a job runs, and with which Python."""

    platform: str
    """OCI form, for example ``linux/amd64``."""
    machine: str
    python: str
    implementation: str
    glibc: int
    """Minor version of the C library that wheels may ask for at most."""

    @property
    def resolver_platform(self) -> str:
        """The platform in the words of uv's ``--python-platform``."""
        return f"{self.machine}-manylinux_2_{self.glibc}"

    @property
    def python_minor(self) -> str:
        """Python as ``3.11``."""
        return ".".join(self.python.split(".")[:2])

    def markers(self) -> dict[str, str]:
        """The values of environment markers (PEP 508) there."""
        release = re.match(r"\d+\.\d+\.\d+|\d+\.\d+", self.python)
        return {
            "implementation_name": self.implementation,
            "implementation_version": release[0] if release else self.python,
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "PyPy" if self.implementation == "pypy" else "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": self.python,
            "python_version": self.python_minor,
            "sys_platform": "linux",
            "extra": "",
        }

    def accepts(self, filename: str) -> bool:
        """Whether a wheel of this name installs there."""
        return self.rank(filename) < _NO_WHEEL

    def rank(self, filename: str) -> int:
        """How well a wheel fits there, 0 being best, in the order in which installers prefer tags."""
        try:
            tags = parse_wheel_filename(filename)[3]
        except InvalidWheelFilename:
            return _NO_WHEEL
        order = _tags(self.python_minor, self.machine, self.glibc)
        return min((order[tag] for tag in tags if tag in order), default=_NO_WHEEL)

    def runs_like(self, environment: Environment) -> bool:
        """Whether binaries of that environment run on the target."""
        machine = _SAME_MACHINE.get(environment.machine.lower(), environment.machine)
        return environment.system == "linux" and machine == self.machine


def target_for(environment: Environment, platform: str) -> Target:
    """The target for an environment.

    Raises:
        LockFailed: the platform is none that jobs run on.
    """
    if platform not in _MACHINES:
        known = " or ".join(sorted(_MACHINES))
        raise LockFailed(f"{platform!r} is no platform for jobs", hint=f"Pass --platform {known}.")
    if environment.implementation != "cpython":
        raise LockFailed(
            f"the notebook ran on {environment.implementation}; only CPython environments can be locked",
            hint="Run the notebook with a CPython kernel.",
        )
    target = Target(
        platform, _MACHINES[platform], environment.python.rstrip("+"), environment.implementation, _OLDEST_GLIBC
    )
    match = _GLIBC.match(environment.libc or "")
    if not target.runs_like(environment) or match is None:
        return target
    glibc = max(_OLDEST_GLIBC, min(_NEWEST_GLIBC, int(match[1])))
    glibc = _OLDEST_GLIBC if glibc in _UNKNOWN_TO_UV else glibc
    return Target(target.platform, target.machine, target.python, target.implementation, glibc)


@functools.cache
def _tags(python_minor: str, machine: str, glibc: int) -> Mapping[Tag, int]:
    major, minor = python_minor.split(".")[:2]
    version = (int(major), int(minor))
    platforms = [f"manylinux_2_{number}_{machine}" for number in range(glibc, 4, -1)]
    platforms += [
        f"manylinux2014_{machine}",
        f"manylinux2010_{machine}",
        f"manylinux1_{machine}",
        f"linux_{machine}",
    ]
    found = [*cpython_tags(python_version=version, platforms=platforms)]
    found += compatible_tags(python_version=version, interpreter=f"cp{major}{minor}", platforms=platforms)
    return {tag: place for place, tag in reversed(list(enumerate(found)))}


def marker_environment(target: Target, extra: str = "") -> Mapping[str, str]:
    """The target's markers with one extra active."""
    return {**target.markers(), "extra": extra}
