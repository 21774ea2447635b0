"""The lock: the environment that a job will have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from jupyter_clusterbridge.model.environment import SourceKind


@dataclass(frozen=True)
class LockedFile:
    """One file that may satisfy a locked package."""

    filename: str
    sha256: str
    """64 hex digits."""
    shipped: bool = False
    """True when the file lies in the bundle's ``wheels/``."""


@dataclass(frozen=True)
class LockedPackage:
    """One package with its exact version."""

    name: str
    version: str
    source: SourceKind
    files: tuple[LockedFile, ...]
    loaded: bool = False
    """Whether the notebook's kernel had imported it."""


@dataclass(frozen=True)
class BaseImage:
    """The image under the job's environment."""

    ref: str
    """As the user or the default names it, for example ``python:3.11.7-slim``."""
    digest: str | None = None
    """``sha256:...`` of the manifest or, with ``local`` below, of the engine's image id."""
    local: bool = False
    """True when the digest is the local engine's image id and no registry knows it."""
    reason: str | None = field(default=None, metadata={"omit_none": True})
    """Why there is no digest; None when there is one."""

    @property
    def floating(self) -> bool:
        """Whether the image may be another one tomorrow."""
        return self.digest is None


@dataclass(frozen=True)
class Lock:
    """The resolved environment and what cannot stay equal."""

    SCHEMA: ClassVar[str] = "clusterbridge/lock/1"

    python: str
    platform: str
    """Target platform in OCI form: ``linux/amd64`` or ``linux/arm64``."""
    packages: tuple[LockedPackage, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the job sets because they change numerics."""
    known_differences: tuple[str, ...] = ()
    """What cannot stay equal on the target, one sentence each."""
    warnings: tuple[str, ...] = ()
