"""Asks a container registry for the digest of a tag (OCI distribution API, anonymous)."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException

_HUB = "registry-1.docker.io"
_ACCEPT = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
_REFUSALS = (401, 403, 404)


class Refused(Exception):
    """The registry answered, and the answer is no."""


class Unreachable(Exception):
    """No answer from the registry."""


@dataclass(frozen=True)
class ImageName:
    """An image reference, taken apart as Docker does."""

    host: str
    """Empty for Docker Hub."""
    repository: str
    tag: str

    @classmethod
    def parse(cls, ref: str) -> ImageName:
        """Take a reference without digest apart.

        >>> ImageName.parse("python:3.11-slim")
        ImageName(host='', repository='library/python', tag='3.11-slim')
        >>> ImageName.parse("localhost:5000/team/base")
        ImageName(host='localhost:5000', repository='team/base', tag='latest')
        """
        host, slash, rest = ref.partition("/")
        if not slash or not ("." in host or ":" in host or host == "localhost"):
            host, rest = "", ref
        repository, colon, tag = rest.rpartition(":")
        if not colon or "/" in tag:
            repository, tag = rest, "latest"
        if host in ("docker.io", "index.docker.io"):
            host = ""
        if not host and "/" not in repository:
            repository = f"library/{repository}"
        return cls(host, repository, tag)

    @property
    def manifest_url(self) -> str:
        """Where the registry has the manifest of the tag; a registry on this machine speaks plain HTTP."""
        host = self.host or _HUB
        name = host.rsplit(":", 1)[0]
        local = name == "localhost" or name.startswith("127.") or name == "[::1]"
        return f"{'http' if local else 'https'}://{host}/v2/{self.repository}/manifests/{self.tag}"


def registry_digest(image: ImageName, timeout_s: float) -> str:
    """The digest that a tag has in its registry now.

    Raises:
        Refused: the registry wants a login, or has no such image.
        Unreachable: it gave no usable answer within ``timeout_s`` seconds.
    """
    deadline = time.monotonic() + timeout_s
    try:
        return _head(image, None, deadline)
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate", "")
        if error.code != 401 or not challenge.lower().startswith("bearer"):
            raise _failed(error) from None
    except (OSError, HTTPException, ValueError) as error:
        raise Unreachable(str(error)) from None
    try:
        return _head(image, _token(challenge, deadline), deadline)
    except urllib.error.HTTPError as error:
        raise _failed(error) from None
    except (OSError, HTTPException, ValueError, KeyError) as error:
        raise Unreachable(str(error)) from None


def _failed(error: urllib.error.HTTPError) -> Exception:
    if error.code in _REFUSALS:
        return Refused(f"{error.code} {error.reason}")
    return Unreachable(f"{error.code} {error.reason}")


def _head(image: ImageName, token: str | None, deadline: float) -> str:
    headers = {"Accept": _ACCEPT, **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(image.manifest_url, method="HEAD", headers=headers)
    with urllib.request.urlopen(request, timeout=_left(deadline)) as answer:
        digest = answer.headers.get("Docker-Content-Digest", "")
    if not _DIGEST.fullmatch(digest):
        raise ValueError("the registry names no digest")
    return str(digest)


def _token(challenge: str, deadline: float) -> str:
    fields = dict(_CHALLENGE.findall(challenge))
    query = urllib.parse.urlencode({key: fields[key] for key in ("service", "scope") if key in fields})
    with urllib.request.urlopen(f"{fields['realm']}?{query}", timeout=_left(deadline)) as answer:
        data = json.load(answer)
    return str(data.get("token") or data["access_token"])


def _left(deadline: float) -> float:
    return max(0.1, deadline - time.monotonic())
