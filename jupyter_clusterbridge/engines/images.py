"""Images of bundles: the base image fetched, the bundle's image built once and found again."""

from __future__ import annotations

import contextlib
import re
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import docker
from docker.errors import APIError, DockerException, ImageNotFound

from jupyter_clusterbridge.engines.base import Progress
from jupyter_clusterbridge.engines.docker_client import engine_errors, is_refusal, refused
from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.errors import BundleInvalid, EnvironmentFailed, RegistryRefused

DOCKERFILE = "Dockerfile"
BUNDLE_LABEL = "clusterbridge.bundle"
"""Label of an image with the digest of the bundle that it holds."""

_TAIL_LINES = 20
_STEP_LENGTH = 100
_BUILT = re.compile(r"^ ?-{2,3}> ([0-9a-f]{11,64})\s*$")
"""The line that Docker (three hyphens) and podman (two) print after each step."""


def image_tag(manifest: BundleManifest) -> str:
    """The name of a bundle's image; another bundle has another one."""
    name = re.sub(r"[^a-z0-9]+", "-", manifest.name.lower()).strip("-") or "notebook"
    return f"clusterbridge/{name}:{short(manifest.digest)}"


def base_reference(manifest: BundleManifest) -> str:
    """The base image as an engine is asked for it: by digest wherever a registry knows one."""
    base = manifest.base_image
    if base.digest is None or base.local or "@" in base.ref:
        return base.ref
    return f"{base.ref}@{base.digest}"


def ensure_image(client: docker.DockerClient, bundle: Path, manifest: BundleManifest, progress: Progress) -> str:
    """Build the bundle's image unless the engine has it; returns its tag.

    Raises:
        BundleInvalid: the bundle has no Dockerfile.
        RegistryRefused: the base image cannot be had.
        EnvironmentFailed: a step of the build failed.
        EngineUnavailable: the engine went away.
    """
    tag = image_tag(manifest)
    with engine_errors("look for an image"):
        if _label(client, tag) == manifest.digest:
            return tag
    if not (bundle / DOCKERFILE).is_file():
        raise BundleInvalid(f"{bundle}: has no {DOCKERFILE}", hint="Export the notebook again with --to docker.")
    base = _ensure_base(client, manifest, progress)
    began = time.monotonic()
    progress(f"building the image {tag}")
    _build(client, bundle, manifest, base, progress)
    progress(f"image ready after {time.monotonic() - began:.1f} s")
    return tag


def _label(client: docker.DockerClient, tag: str) -> str | None:
    try:
        return cast("str | None", client.images.get(tag).labels.get(BUNDLE_LABEL))
    except ImageNotFound:
        return None


def _ensure_base(client: docker.DockerClient, manifest: BundleManifest, progress: Progress) -> str:
    """Fetch the base image if need be; returns the reference to build from."""
    base = manifest.base_image
    reference = base_reference(manifest)
    with engine_errors("look for the base image"):
        present = _image_id(client, reference)
        if base.local:
            return _local_base(client, manifest, present)
    if present is None:
        progress(f"fetching the base image {reference}")
        _pull(client, reference, manifest.lock.platform)
    return reference


def _local_base(client: docker.DockerClient, manifest: BundleManifest, present: str | None) -> str:
    """An image that no registry knows: it must be the one that the export saw, under any name."""
    base = manifest.base_image
    if base.digest is None or present == base.digest:
        return base.ref
    if _image_id(client, base.digest) is not None:
        return base.digest
    raise RegistryRefused(
        f"the base image {base.ref} was this engine's own when the bundle was exported "
        f"({short(base.digest)}), and it is not here"
        + (" any more" if present is None else "; another has its name"),
        hint="Export again, or push the base image to a registry and export with --base-image NAME.",
    )


def _image_id(client: docker.DockerClient, reference: str) -> str | None:
    try:
        return cast(str, client.images.get(reference).id)
    except ImageNotFound:
        return None


def _pull(client: docker.DockerClient, reference: str, platform: str) -> None:
    name, _, digest = reference.partition("@")
    if not digest and ":" not in name.rsplit("/", 1)[-1]:
        name = f"{name}:latest"
    repository, _, tag = name.rpartition(":") if ":" in name.rsplit("/", 1)[-1] else (name, "", "")
    try:
        for line in client.api.pull(repository, tag=digest or tag, platform=platform, stream=True, decode=True):
            if "error" in line:
                raise refused(reference, str(line["error"]))
    except APIError as error:
        raise refused(reference, str(error.explanation or error)) from None
    except DockerException as error:
        raise refused(reference, str(error)) from None


def _build(
    client: docker.DockerClient, bundle: Path, manifest: BundleManifest, base: str, progress: Progress
) -> None:
    lines: list[str] = []
    try:
        with engine_errors("build the image"):
            stream = client.api.build(
                path=str(bundle),
                tag=image_tag(manifest),
                labels={BUNDLE_LABEL: manifest.digest},
                buildargs={"BASE": base} if base != base_reference(manifest) else None,
                rm=True,
                forcerm=True,
                decode=True,
            )
            problem = _read_build(stream, lines, progress)
    except BaseException:
        _remove_part(client, lines)
        raise
    if problem is not None:
        _remove_part(client, lines)
        if is_refusal(problem):
            raise refused(base, problem)
        tail = "\n".join([*lines[-_TAIL_LINES:], problem])
        raise EnvironmentFailed(f"the image could not be built:\n{tail}")


def _read_build(stream: Iterable[Mapping[str, object]], lines: list[str], progress: Progress) -> str | None:
    """Collect what a build prints; returns its error, if it ended with one."""
    for event in stream:
        if "error" in event:
            return str(event["error"])
        for line in str(event.get("stream", "")).splitlines():
            # pip colours its warnings
            text = re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip()
            if text:
                lines.append(text)
            if text.startswith(("Step ", "STEP ")):
                progress(textwrap.shorten(text, _STEP_LENGTH, placeholder=" ..."))
    return None


def _remove_part(client: docker.DockerClient, lines: list[str]) -> None:
    """Remove the nameless image that a failed build leaves behind; its parents go with it."""
    built = [match[1] for match in map(_BUILT.match, lines) if match]
    if not built:
        return
    with contextlib.suppress(DockerException):
        if not client.images.get(built[-1]).tags:
            client.images.remove(built[-1])
