"""``bundle.json``: what an export wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.lock import BaseImage, Lock
from jupyter_clusterbridge.model.record import FileRecord, ListingRecord
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import GuardPolicy

BUNDLE_FILE = "bundle.json"
NOTEBOOK_FILE = "notebook.ipynb"
REQUIREMENTS_FILE = "requirements.txt"
PYLOCK_FILE = "pylock.toml"
WHEELS_FOLDER = "wheels"
PROJECT_FOLDER = "project"
BASELINE_FOLDER = "baseline"
INJECTED_CELL_ID = "injected-parameters"
"""Id and tag of the cell with the values given at export; it follows the tagged cell and is never compared."""

ParameterValue = bool | int | float | str | None


@dataclass(frozen=True)
class Parameter:
    """One assignment of the cell tagged ``parameters``."""

    name: str
    type: str
    """``bool``, ``int``, ``float``, ``str`` or ``none``."""
    default: ParameterValue
    value: ParameterValue
    """What the job uses: the default, or what ``-p`` gave."""


@dataclass(frozen=True)
class BundleManifest:
    """The bundle's table of contents. Holds no time, no path of the exporting machine and no user name."""

    SCHEMA: ClassVar[str] = "clusterbridge/bundle/1"

    name: str
    """Stem of the notebook's file name."""
    written_by: str
    """Version of ClusterBridge."""
    identity: Identity
    lock: Lock
    base_image: BaseImage
    parameters: tuple[Parameter, ...] = ()
    resources: Resources = field(default_factory=Resources)
    guards: Mapping[str, GuardPolicy] = field(default_factory=dict)
    data: tuple[FileRecord, ...] = ()
    """Files that the job checks before it starts; those in ``project/`` among them."""
    listings: tuple[ListingRecord, ...] = ()
    artifacts: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    """Engines whose files were written."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digest of every other file of the bundle, by its path in the bundle."""
    has_baseline: bool = False
    unknown: tuple[str, ...] = ()
    """What the export could not know, one sentence each."""
    digest: str = ""
    """Digest of the rest of this document, so that an edit by hand is seen."""
