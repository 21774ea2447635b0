"""Keeps the answers of package indexes for some minutes, so that a second export asks nobody."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jupyter_clusterbridge.model.canonical import digest_json
from jupyter_clusterbridge.model.codec import Json, from_json, to_json
from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.files import write_atomic

T = TypeVar("T")

KEPT_S = 600
"""As long as public indexes let a client keep their pages."""


def remembered(folder: Path, question: object, kind: type[T], ask: Callable[[], dict[str, T]]) -> dict[str, T]:
    """Answer a question from the cache, or ask and keep the answer.

    Args:
        folder: where answers are kept.
        question: plain JSON data that tells the question from all others; only its digest is written.
        kind: type of the answer's values.
        ask: called where no fresh answer is kept; what it raises passes through and is not kept.
    """
    path = folder / f"{digest_json(question).removeprefix('sha256:')}.json"
    kept = _read(path, kind)
    if kept is not None:
        return kept
    answer = ask()
    data: dict[str, Json] = {name: to_json(value) for name, value in answer.items()}
    try:
        write_atomic(path, json.dumps(data, sort_keys=True).encode())
    except ClusterBridgeError:
        # a cache that cannot be written costs time, not the export
        return answer
    return answer


def _read(path: Path, kind: type[T]) -> dict[str, T] | None:
    try:
        if not 0 <= time.time() - path.stat().st_mtime < KEPT_S:
            return None
        data = json.loads(path.read_bytes())
        return {name: from_json(kind, value, path.name) for name, value in data.items()}
    except (OSError, ValueError, AttributeError, ClusterBridgeError):
        return None
