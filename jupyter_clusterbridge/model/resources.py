"""Resources of a job, with sizes and durations as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jupyter_clusterbridge.model.errors import ResourceInvalid

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b?)", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?", re.IGNORECASE)
_SIZE_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_TIME_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Resources:
    """Limits of a job; None means no limit of ours."""

    cpus: float | None = None
    memory_bytes: int | None = None
    shm_bytes: int | None = None
    time_limit_s: float | None = None


def parse_size(text: str) -> int:
    """Read a size in bytes; units are powers of 1024, as Docker reads them.

    >>> parse_size("4g"), parse_size("512m"), parse_size("1024")
    (4294967296, 536870912, 1024)

    Raises:
        ResourceInvalid: the text is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ResourceInvalid(f"{text!r} is not a size")
    return int(float(match[1]) * _SIZE_UNITS[match[2].lower()])


def parse_duration(text: str) -> float:
    """Read a duration in seconds.

    >>> parse_duration("6h"), parse_duration("90s"), parse_duration("1.5m"), parse_duration("30")
    (21600.0, 90.0, 90.0, 30.0)

    Raises:
        ResourceInvalid: the text is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ResourceInvalid(f"{text!r} is not a duration")
    return float(match[1]) * _TIME_UNITS[(match[2] or "s").lower()]
