"""Pins the base image by digest: from its registry, from the local engine, or says that it floats."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jupyter_clusterbridge.model.errors import LockFailed, RegistryRefused
from jupyter_clusterbridge.model.lock import BaseImage
from jupyter_clusterbridge.pin.registry import ImageName, Refused, Unreachable, registry_digest

_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?"
)
"""Grammar of the distribution project's ``reference`` package; no login has a place in it."""
_TOTAL_S = 4.5
_ENGINE_S = 2
_log = logging.getLogger(__name__)


@dataclass
class _Answers:
    """What was found out so far; filled by two threads."""

    registry: str | None = None
    refused: str | None = None
    repository_digest: str | None = None
    """Digest in the registry of the image that the local engine has."""
    image_id: str | None = None


def default_image(python: str) -> str:
    """The base image for a Python version.

    >>> default_image("3.11.7")
    'python:3.11.7-slim'
    """
    return f"python:{python}-slim"


def resolve_base_image(ref: str | None, python: str) -> BaseImage:
    """Find the digest of the base image, within five seconds.

    Args:
        ref: an image as the user names it, with or without digest; None for the default.
        python: full Python version of the notebook.

    Raises:
        LockFailed: that is no name of an image.
        RegistryRefused: the user named an image, its registry refuses it or lacks it, and the local engine
            does not have it either. A registry that cannot be reached gives a floating image instead.
    """
    name = default_image(python) if ref is None else ref.strip()
    if ref is not None and not _REFERENCE.fullmatch(name):
        raise LockFailed(
            f"{name!r} is no name of an image",
            hint="Name it as in 'docker pull', for example python:3.11-slim, with a digest or without.",
        )
    plain, at, digest = name.partition("@")
    if at:
        return BaseImage(plain, digest)
    answers = _ask(name)
    if answers.repository_digest is not None or answers.registry is not None:
        return BaseImage(name, answers.repository_digest or answers.registry)
    if answers.image_id is not None:
        return BaseImage(name, answers.image_id, local=True)
    if answers.refused is not None and ref is not None:
        raise RegistryRefused(f"the registry refused {name} ({answers.refused}), and no local engine has it")
    if answers.refused is not None:
        return BaseImage(name, reason="the registry refused the image, and no local engine has it")
    return BaseImage(name, reason="no registry could be reached for it, and no local engine has it")


def _ask(name: str) -> _Answers:
    """Ask registry and engine at once; an engine that has the image under a registry's digest decides alone.

    Both run in threads that are left behind when the time is over: looking up a host name cannot be interrupted.
    """
    answers = _Answers()
    changed = threading.Condition()
    deadline = time.monotonic() + _TOTAL_S
    running = [_start(task, name, answers, changed) for task in (_ask_engine, _ask_registry)]
    with changed:
        changed.wait_for(
            lambda: answers.repository_digest is not None or not any(flag.is_set() for flag in running),
            timeout=deadline - time.monotonic(),
        )
        return _Answers(answers.registry, answers.refused, answers.repository_digest, answers.image_id)


def _start(
    task: Callable[[str, _Answers], None], name: str, answers: _Answers, changed: threading.Condition
) -> threading.Event:
    running = threading.Event()
    running.set()

    def work() -> None:
        found = _Answers()
        try:
            task(name, found)
        except Exception as error:
            _log.debug("no answer about %s: %s", name, error)
        with changed:
            for key, value in vars(found).items():
                if value is not None:
                    setattr(answers, key, value)
            running.clear()
            changed.notify_all()

    threading.Thread(target=work, name="clusterbridge-image", daemon=True).start()
    return running


def _ask_registry(name: str, answers: _Answers) -> None:
    try:
        answers.registry = registry_digest(ImageName.parse(name), _TOTAL_S)
    except Refused as error:
        answers.refused = str(error)
    except Unreachable as error:
        _log.debug("%s: the registry gave no answer: %s", name, error)


def _ask_engine(name: str, answers: _Answers) -> None:
    import docker

    try:
        client = docker.from_env(timeout=_ENGINE_S)
    except docker.errors.DockerException as error:
        _log.debug("no container engine: %s", error)
        return
    try:
        image = client.images.get(name)
        answers.repository_digest = _repository_digest(image, name)
        answers.image_id = str(image.id)
    except docker.errors.ImageNotFound:
        # the engine's own login may open a registry that refuses us
        answers.repository_digest = _through_engine(client, name)
    finally:
        client.close()


def _repository_digest(image: Any, name: str) -> str | None:
    wanted = ImageName.parse(name)
    for entry in image.attrs.get("RepoDigests") or []:
        place, _, digest = entry.partition("@")
        found = ImageName.parse(place)
        if (found.host, found.repository) == (wanted.host, wanted.repository):
            return str(digest)
    return None


def _through_engine(client: Any, name: str) -> str | None:
    import docker

    try:
        return str(client.images.get_registry_data(name).id)
    except docker.errors.APIError as error:
        _log.debug("%s: the engine got no answer from the registry: %s", name, error)
        return None
