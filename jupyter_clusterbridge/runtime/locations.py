"""Paths as a record may hold them: no user name, no home folder, no place of this machine where avoidable."""

from __future__ import annotations

import os
from pathlib import Path


def portable_path(path: str, root: Path) -> str:
    """A path relative to ``root`` when below it, ``~/...`` when below the home folder, absolute otherwise.

    >>> portable_path("/data/nb/x/../a.csv", Path("/data/nb"))
    'a.csv'
    >>> portable_path("/data/other.csv", Path("/data/nb"))
    '/data/other.csv'
    """
    full = os.path.abspath(os.path.expanduser(path))
    base = str(root)
    for candidate, parent in ((full, base), (os.path.realpath(full), os.path.realpath(base))):
        if candidate == parent:
            return "."
        if candidate.startswith(parent.rstrip("/") + "/"):
            return os.path.relpath(candidate, parent).replace(os.sep, "/")
    home = os.path.expanduser("~")
    if home != "/" and full.startswith(home.rstrip("/") + "/"):
        return "~/" + os.path.relpath(full, home).replace(os.sep, "/")
    return full.replace(os.sep, "/")
