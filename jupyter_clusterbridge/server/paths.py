"""From the server's API paths to files and back; nothing outside the server's root folder is reached."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from jupyter_server.services.contents.manager import ContentsManager
from tornado.web import HTTPError


def root_folder(contents: ContentsManager) -> Path:
    """The folder that the server serves.

    Raises:
        HTTPError: 404 when the server keeps its notebooks elsewhere than in files.
    """
    root = getattr(contents, "root_dir", "")
    if not root:
        raise HTTPError(404, "This server does not keep its notebooks in files, so they cannot be read here.")
    return Path(os.path.abspath(os.path.expanduser(root)))


def resolve(contents: ContentsManager, api_path: str) -> Path:
    """The file or folder that an API path names; it need not exist.

    Links are followed, as the contents service follows them, so a link that an owner placed in
    the root works; a path that leaves the root by itself, a hidden one (unless the server shows
    hidden files), a drive and a null byte are all "not found".

    Raises:
        HTTPError: 404 when the path is not one below the root.
    """
    root = root_folder(contents)
    parts = PurePosixPath(api_path.replace("\\", "/").lstrip("/")).parts
    unsafe = not parts or ".." in parts or "\0" in api_path or bool(os.path.splitdrive(api_path)[0])
    hidden = any(part.startswith(".") for part in parts) and not getattr(contents, "allow_hidden", False)
    if unsafe or hidden:
        raise HTTPError(404, f"{api_path!r} is not a path below the server's root folder.")
    return root.joinpath(*parts)


def api_path(contents: ContentsManager, path: Path) -> str:
    """The API path of a file below the root; the name alone when it lies elsewhere."""
    absolute = Path(os.path.abspath(path))
    try:
        return absolute.relative_to(root_folder(contents)).as_posix()
    except ValueError:
        return absolute.name
