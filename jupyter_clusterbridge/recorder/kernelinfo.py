"""Which kernel this is, which notebook it serves, and what the front end said about the cell."""

from __future__ import annotations

import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import psutil

_CONNECTION = re.compile(r"kernel-(?P<id>.+)\.json")
_SESSION_VARIABLE = "JPY_SESSION_NAME"


def kernel_id(shell: Any) -> str:
    """An id of this kernel process: another one after each restart, although Jupyter keeps its own."""
    process = psutil.Process()
    moment = f"{int(process.create_time() * 1000):x}-{process.pid}"
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return f"ipython-{moment}"
    connection = getattr(getattr(kernel, "parent", None), "connection_file", None) or ""
    match = _CONNECTION.fullmatch(os.path.basename(str(connection)))
    return f"{match['id'] if match else 'kernel'}-{moment}"


def find_notebook(shell: Any, identity: str) -> Path:
    """The notebook's path as Jupyter or VS Code tell it, or a stand-in name in the working directory."""
    for named in (os.environ.get(_SESSION_VARIABLE), shell.user_ns.get("__vsc_ipynb_file__")):
        if not isinstance(named, str) or not named.endswith(".ipynb"):
            continue
        path = Path(named)
        # some servers give the path relative to their own root folder; the kernel starts in the notebook's
        for candidate in (path, Path.cwd() / path, Path.cwd() / path.name):
            if candidate.is_absolute() and candidate.parent.is_dir() and (candidate.exists() or candidate is path):
                return candidate
    return Path.cwd() / f"untitled-{identity}.ipynb"


def request_metadata(shell: Any) -> dict[str, Any]:
    """Metadata of the execute request that is being served; empty outside a kernel."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return {}
    parent = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else {}
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def cell_id(info: Any, metadata: dict[str, Any]) -> str | None:
    """Id of the cell that runs; None where the front end sends none."""
    for found in (getattr(info, "cell_id", None), metadata.get("cellId"), metadata.get("cell_id")):
        if isinstance(found, str) and found:
            return found
    return None


def deleted_cells(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Ids of cells deleted since the last run."""
    found = metadata.get("deletedCells")
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def running_info(shell: Any) -> Any | None:
    """The execution info of the cell that runs now, for a recorder that starts in the middle of one."""
    frame: types.FrameType | None = sys._getframe(1)
    found = None
    while frame is not None:
        if frame.f_code.co_name == "run_cell_async" and frame.f_locals.get("self") is shell:
            found = frame.f_locals.get("info")
        frame = frame.f_back
    return found
