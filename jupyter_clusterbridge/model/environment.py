"""What a live process can say about its environment."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


class SourceKind(str, enum.Enum):
    """Where an installed distribution came from."""

    INDEX = "index"
    """A package index, as far as the metadata tells (no ``direct_url.json``)."""
    LOCAL_VERSION = "local_version"
    """A version with a local label such as ``2.13.0+cpu``."""
    EDITABLE = "editable"
    DIRECTORY = "directory"
    """A local project installed without ``-e``."""
    GIT = "git"
    WHEEL = "wheel"
    """A local wheel or sdist file."""
    URL = "url"
    CONDA = "conda"


@dataclass(frozen=True)
class Distribution:
    """One installed distribution."""

    name: str
    """Normalised name (PEP 503)."""
    version: str
    """The version installed on disk."""
    source: SourceKind = SourceKind.INDEX
    origin: str | None = None
    """Repository address and commit, archive address or local path; stays on this machine."""
    loaded: bool = False
    """Whether the process imported a module of it."""
    loaded_version: str | None = None
    """The version in memory, where it is known and differs from the one on disk."""
    installed_after_import: bool = False
    requires: tuple[str, ...] = ()
    """Raw ``Requires-Dist`` lines."""


@dataclass(frozen=True)
class Gpu:
    """One visible GPU."""

    name: str
    memory_bytes: int
    driver: str | None = None


@dataclass(frozen=True)
class Environment:
    """The environment of one process. Holds no user name, no host name and no secret.

    Only ``origin`` of a distribution may hold a path; it never leaves the machine.
    """

    SCHEMA: ClassVar[str] = "clusterbridge/environment/1"

    python: str
    """Full version, for example ``3.11.7``."""
    implementation: str = "cpython"
    system: str = "linux"
    """``linux``, ``darwin`` or ``windows``."""
    machine: str = "x86_64"
    libc: str | None = None
    """For example ``glibc 2.36``."""
    cpu_model: str | None = None
    cpu_capability: str | None = None
    """The instruction set that numeric kernels chose, for example ``AVX2``."""
    cpu_count: int | None = None
    gpus: tuple[Gpu, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    """Sorted by name."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Only variables that change numerics or determinism."""
    threads: Mapping[str, int] = field(default_factory=dict)
    """Thread counts by pool, for example ``torch``, ``openblas``."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Framework settings, for example ``torch.backends.cudnn.deterministic``."""
    blas: tuple[str, ...] = ()
