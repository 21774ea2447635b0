"""Whether a folder may be written as a bundle, and which engines an export knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from jupyter_clusterbridge.model.bundle import BUNDLE_FILE
from jupyter_clusterbridge.model.errors import EngineUnavailable, FolderNotWritable
from jupyter_clusterbridge.runtime.bundle import bundle_files

ENGINES = ("local", "docker")
"""Engines whose files an export can write; every bundle runs on both."""


def check_engines(names: Sequence[str]) -> tuple[str, ...]:
    """The engines asked for, each once, in the order of :data:`ENGINES`.

    Raises:
        EngineUnavailable: a name is not known.
    """
    for name in names:
        if name not in ENGINES:
            raise EngineUnavailable(
                f"there is no engine {name!r} to export for; known are {', '.join(ENGINES)}",
                hint="Name one of these with --to, or leave --to out.",
            )
    return tuple(name for name in ENGINES if name in names)


def check_target(output: Path) -> Path:
    """The real place of an output folder that is new, empty, or a bundle with nothing else in it.

    It may not lie in another bundle.

    Raises:
        FolderNotWritable: it is anything else.
    """
    try:
        target = output.expanduser().resolve()
        around = next((one for one in target.parents if (one / BUNDLE_FILE).is_file()), None)
        if around is not None and _foreign_file(around) is None:
            raise FolderNotWritable(f"{output}: lies in the bundle {around.name}, which would be a bundle no more")
        if not target.exists():
            return target
        if not target.is_dir():
            raise FolderNotWritable(f"{output}: is a file, not a folder")
        if not any(target.iterdir()):
            return target
        foreign = _foreign_file(target)
    except OSError as error:
        raise FolderNotWritable(f"{output}: cannot be looked into ({error.strerror})") from None
    if foreign is not None:
        raise FolderNotWritable(f"{output}: is not empty and {foreign}; nothing was written")
    return target


def _foreign_file(target: Path) -> str | None:
    """Why a folder is no bundle that may be replaced; None when it is one."""
    try:
        document = json.loads((target / BUNDLE_FILE).read_bytes())
        known = document["files"]
        ours = str(document["schema"]).startswith("clusterbridge/bundle/") and isinstance(known, dict)
    except (OSError, ValueError, KeyError, TypeError):
        return "holds no bundle"
    if not ours:
        return "holds no bundle"
    extra = next((name for name in bundle_files(target) if name not in known), None)
    return None if extra is None else f"holds {extra}, which no export wrote"
