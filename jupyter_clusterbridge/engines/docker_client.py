"""The Docker engine's client: connecting, and its failures in our own words."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException

from jupyter_clusterbridge.model.errors import EngineUnavailable, RegistryRefused

CLIENT_ERRORS = (DockerException, requests.exceptions.RequestException, urllib3.exceptions.HTTPError)
"""What the client lets out: its own, and those of the libraries below it, the lowest where a stream breaks."""

_TIMEOUT_S = 60
_REFUSALS = (
    "pull access denied",
    "manifest unknown",
    "unauthorized",
    "authentication required",
    "denied:",
    "no basic auth credentials",
    "no such host",
    "dial tcp",
    "not found: manifest",
    "tls: ",
    "x509: ",
    "toomanyrequests",
    "i/o timeout",
    "server gave http response",
)


def engine_address() -> str:
    """Where the engine is asked: ``DOCKER_HOST``, or the usual socket."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def connect() -> docker.DockerClient:
    """A client of an engine that has answered.

    Raises:
        EngineUnavailable: with the reason why it does not answer.
    """
    try:
        client = docker.from_env(timeout=_TIMEOUT_S)
        client.ping()
    except CLIENT_ERRORS as error:
        raise EngineUnavailable(f"no Docker engine answers at {engine_address()}: {_why(error)}") from None
    return client


@contextlib.contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn the client's failures into ours.

    Args:
        doing: what was tried, for the message.

    Raises:
        EngineUnavailable: the engine went away or refused.
    """
    try:
        yield
    except APIError as error:
        raise EngineUnavailable(f"the Docker engine could not {doing}: {error.explanation or error}") from None
    except CLIENT_ERRORS as error:
        raise EngineUnavailable(f"the Docker engine could not {doing}: {_why(error)}") from None


def refused(image: str, message: str) -> RegistryRefused:
    """The error of ours for an image that a registry does not give."""
    return RegistryRefused(f"the image {image} cannot be had: {message.strip()}")


def is_refusal(message: str) -> bool:
    """Whether an engine's message says that a registry refused or could not be reached."""
    return any(part in message.lower() for part in _REFUSALS)


def shares_files(client: docker.DockerClient) -> bool:
    """Whether a folder of this machine can be given to a container so that both may write it.

    Not with an engine elsewhere, and not with a rootless one, whose user ids are others inside.
    """
    if not engine_address().startswith(("unix://", "npipe://")):
        return False
    with engine_errors("describe itself"):
        options = client.info().get("SecurityOptions") or []
    return not any("rootless" in option for option in options)


def _why(error: BaseException) -> str:
    """The system's own reason inside a client's nested exceptions."""
    cause = _os_error(error, depth=8)
    if cause is None:
        return str(error)
    if cause.errno == errno.ENOENT:
        return "there is no such socket, so no engine is running"
    if cause.errno in (errno.EACCES, errno.EPERM):
        return "you may not use its socket (your user is not in the group that owns it)"
    if cause.errno == errno.ECONNREFUSED:
        return "nothing listens there, so no engine is running"
    return cause.strerror or str(cause)


def _os_error(error: BaseException | None, depth: int) -> OSError | None:
    if error is None or depth == 0:
        return None
    if isinstance(error, OSError) and error.errno is not None:
        return error
    inner = [item for item in error.args if isinstance(item, BaseException)]
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):
        inner.append(reason)
    for item in (*inner, error.__cause__, error.__context__):
        found = _os_error(item, depth - 1)
        if found is not None:
            return found
    return None
