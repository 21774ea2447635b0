"""Which files are the notebook's, and which belong to Python, Jupyter or the system."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path

HIDDEN_NAMES = frozenset({".clusterbridge", "__pycache__", ".ipynb_checkpoints", ".git", "site-packages"})
"""Folders that are nobody's data, wherever they lie."""
_SYSTEM = (
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/etc",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/var/lib",
)
_HOME = (
    ".ipython",
    ".jupyter",
    ".local/share/jupyter",
    ".local/lib",
    ".config/matplotlib",
    ".cache/matplotlib",
    ".cache/fontconfig",
    ".cache/pip",
    ".cache/uv",
    ".triton",
    ".nv",
)
_VARIABLES = ("MPLCONFIGDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
_SUFFIXES = (".pyc", ".pyo", ".so", ".pyd")
_TEMPORARY = ("torchinductor_", "ipykernel_", "matplotlib-", "pymp-")


class Places:
    """Decides by path alone, quickly, for one notebook's folder."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.abspath(root) + os.sep
        home = os.path.expanduser("~")
        python = [
            sys.prefix,
            sys.base_prefix,
            sys.exec_prefix,
            *site.getsitepackages(),
            site.getusersitepackages(),
        ]
        python += [path for path in sysconfig.get_paths().values() if path]
        others = [*_SYSTEM, *(os.path.join(home, part) for part in _HOME)]
        others += [os.environ[name] for name in _VARIABLES if os.environ.get(name)]
        # a prefix such as / or the home folder itself would exclude everything
        roots = {os.path.abspath(path) for path in (*python, *others)} - {os.sep, home}
        self._below_root = tuple(sorted(path + os.sep for path in roots if (path + os.sep).startswith(self._root)))
        self._excluded = tuple(sorted(path + os.sep for path in roots))

    def inside(self, path: str) -> bool:
        """Whether an absolute path lies below the notebook's folder."""
        return path.startswith(self._root)

    def ours(self, path: str) -> bool:
        """Whether an absolute path may be data or code of the notebook."""
        if path.endswith(_SUFFIXES):
            return False
        if path + os.sep == self._root:
            return True
        if path.startswith(self._root):
            parts = path[len(self._root) :].split(os.sep)
            return HIDDEN_NAMES.isdisjoint(parts) and not (path + os.sep).startswith(self._below_root)
        if (path + os.sep).startswith(self._excluded) or not HIDDEN_NAMES.isdisjoint(path.split(os.sep)):
            return False
        return not any(part.startswith(_TEMPORARY) for part in path.split(os.sep))
