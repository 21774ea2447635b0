"""The model identity: five digests and the digest of these."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_clusterbridge.model.canonical import digest_json


@dataclass(frozen=True)
class Identity:
    """What makes two runs claim to be one model. Every value is ``sha256:...``."""

    code: str
    env: str
    data: str
    order: str
    seeds: str
    model: str
    """Digest of the other five."""

    @classmethod
    def of(cls, *, code: str, env: str, data: str, order: str, seeds: str) -> Identity:
        """Build an identity and compute its ``model`` digest."""
        parts = {"code": code, "env": env, "data": data, "order": order, "seeds": seeds}
        return cls(**parts, model=digest_json(parts))
