"""What the front end and the server say to each other beyond the reports of ``model``.

The TypeScript interfaces are made from these classes and from those of ``model``
(``dev/gen_ts_types``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from jupyter_clusterbridge.model.findings import Finding


@dataclass(frozen=True)
class Failure:
    """Body of every answer that is not a success."""

    message: str
    """What happened and why."""
    hint: str
    """What to do next; empty when there is nothing to say."""
    exit_code: int | None = None
    """Exit code of the same failure at the command line; None when it is the request that is wrong."""


@dataclass(frozen=True)
class ExportOrder:
    """Body of ``POST export``; paths are the server's API paths, relative to its root folder."""

    path: str
    """The notebook."""
    output: str | None = None
    """The folder to write; None is a folder beside the notebook, see :func:`default_output`."""
    engines: tuple[str, ...] = ()
    base_image: str | None = None
    scope: str = "used"
    platform: str = "linux/amd64"
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Values by name, as typed; the export checks them against the parameters cell."""


@dataclass(frozen=True)
class ExportAnswer:
    """Answer of ``POST export``."""

    SCHEMA: ClassVar[str] = "clusterbridge/export-answer/1"

    folder: str
    """API path of the bundle."""
    folder_on_disk: str
    """Path of the bundle on the server's machine, for a terminal."""
    model_identity: str
    """Digest that names the model."""
    engines: tuple[str, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    """What the export could not pin or know, one sentence each."""


def default_output(path: str) -> str:
    """API path of the folder that an export writes unless it is told another.

    >>> default_output("work/train.ipynb")
    'work/train-bundle'
    """
    stem = path[: -len(".ipynb")] if path.endswith(".ipynb") else path
    return f"{stem}-bundle"
