"""What ``clusterbridge engines`` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class EngineInfo:
    """One engine and whether it can be used here."""

    name: str
    usable: bool
    reason: str
    """Why not, or what was found (for example its version)."""


@dataclass(frozen=True)
class EngineReport:
    """All engines."""

    SCHEMA: ClassVar[str] = "clusterbridge/engines/1"

    engines: tuple[EngineInfo, ...]
