"""The text files of a bundle, from templates."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence

import jinja2

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import short

USER_ID = 10001
"""User and group of the job in its container."""
RUN_FOLDER = "/run/out"


def render_dockerfile(manifest: BundleManifest, entries: Sequence[str]) -> str:
    """The Dockerfile.

    Args:
        manifest: the bundle's manifest; files need not be known yet.
        entries: what lies at the bundle's top, folders with a slash at the end.
    """
    image = manifest.base_image
    pinned = image.digest is not None and not image.local and "@" not in image.ref
    first = ("requirements.txt", "wheels/")
    return _template("Dockerfile.j2").render(
        base=f"{image.ref}@{image.digest}" if pinned else image.ref,
        manifest=manifest,
        labels=_labels(manifest),
        files=[name for name in entries if not name.endswith("/") and name not in first],
        folders=[name for name in entries if name.endswith("/") and name not in first],
        user=USER_ID,
        run_folder=RUN_FOLDER,
    )


def render_dockerignore() -> str:
    """The ``.dockerignore``."""
    return _template("dockerignore.j2").render()


def render_readme(manifest: BundleManifest) -> str:
    """The bundle's README."""
    return _template("README.md.j2").render(manifest=manifest, model=short(manifest.identity.model))


def _labels(manifest: BundleManifest) -> dict[str, str]:
    """Labels by the OCI's annotation names; the model's identity under a name of our own."""
    labels = {
        "org.opencontainers.image.title": manifest.name,
        "org.opencontainers.image.description": "A notebook as a job, written by ClusterBridge",
        "org.opencontainers.image.version": short(manifest.identity.model),
        "org.opencontainers.image.base.name": manifest.base_image.ref,
        "clusterbridge.model": manifest.identity.model,
    }
    if manifest.base_image.digest is not None:
        labels["org.opencontainers.image.base.digest"] = manifest.base_image.digest
    return dict(sorted(labels.items()))


def _docker_quote(value: str) -> str:
    """A value in double quotes as a Dockerfile reads it: nothing is expanded."""
    return json.dumps(value, ensure_ascii=False).replace("$", "\\$")


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("jupyter_clusterbridge.export"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["quoted"] = _docker_quote
    return environment
