"""Canonical JSON and digests: one byte form for one value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

_CHUNK = 1 << 20


def canonical_json(value: object) -> bytes:
    """Serialise plain JSON data with sorted keys and no spare white space.

    >>> canonical_json({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def pretty_json(value: object) -> bytes:
    """Serialise plain JSON data for a file that people read: sorted keys, two spaces, final newline."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def digest_bytes(data: bytes) -> str:
    """SHA-256 of bytes in the form ``sha256:<64 hex digits>``."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_text(text: str) -> str:
    """SHA-256 of text encoded as UTF-8."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def digest_json(value: object) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return digest_bytes(canonical_json(value))


def digest_lines(lines: Iterable[str]) -> str:
    """SHA-256 of a sequence of strings; the order counts, and no two sequences collide by joining."""
    return digest_json(list(lines))


def digest_file(path: Path) -> str:
    """SHA-256 of a file's content, read in chunks."""
    state = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            state.update(chunk)
    return "sha256:" + state.hexdigest()


def short(digest: str) -> str:
    """The first twelve hex digits of a digest, for people.

    >>> short("sha256:0123456789abcdef")
    '0123456789ab'
    """
    return digest.split(":", 1)[-1][:12]
