"""Finding an interpreter of the version that a lock names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.errors import EngineUnavailable

_QUESTION = "import platform, sys; print(platform.python_version(), sys.implementation.name)"


@dataclass(frozen=True)
class Interpreter:
    """An interpreter on this machine."""

    path: str
    version: str
    """Full version, for example ``3.11.7``."""


def find_interpreter(version: str) -> Interpreter:
    """An interpreter of exactly this version, or else of the same minor version.

    Args:
        version: a full version such as ``3.11.7``.

    Raises:
        EngineUnavailable: no interpreter of that minor version is on this machine.
    """
    near: list[Interpreter] = []
    for path in _candidates(_minor(version)):
        found = _ask(path)
        if found == version:
            return Interpreter(str(path), version)
        if found is not None and _minor(found) == _minor(version):
            near.append(Interpreter(str(path), found))
    if near:
        return near[0]
    raise EngineUnavailable(
        f"the bundle is locked for Python {version}, and no Python {_minor(version)} was found on this machine",
        hint=f"Install Python {_minor(version)} (for example with 'uv python install {version}'), "
        "or run the bundle with --engine docker.",
    )


def _minor(version: str) -> str:
    match = re.match(r"(\d+\.\d+)", version)
    return match[1] if match else version


def _candidates(minor: str) -> Iterator[Path]:
    """Interpreters in the order of preference; this process's own base comes first, each only once."""
    seen: set[Path] = set()
    for path in (*_own_base(minor), *_on_path(minor), *_managed(minor)):
        real = path.resolve()
        if real not in seen and os.access(path, os.X_OK):
            seen.add(real)
            yield path


def _own_base(minor: str) -> Iterator[Path]:
    base = Path(sys.base_prefix)
    yield from (base / "bin" / f"python{minor}", base / "python.exe")


def _on_path(minor: str) -> Iterator[Path]:
    for name in (f"python{minor}", "python3", "python"):
        if found := shutil.which(name):
            yield Path(found)


def _managed(minor: str) -> Iterator[Path]:
    """What pyenv and uv have installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local" / "share" / "uv" / "python"))
    for folder, pattern in ((pyenv, f"{minor}.*"), (uv, f"cpython-{minor}.*")):
        if folder.is_dir():
            yield from (item / "bin" / f"python{minor}" for item in sorted(folder.glob(pattern), reverse=True))


def _ask(path: Path) -> str | None:
    """The version of a CPython that has the module for virtual environments' base; None for anything else."""
    try:
        done = subprocess.run(
            [str(path), "-I", "-c", _QUESTION], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return words[0] if done.returncode == 0 and len(words) == 2 and words[1] == "cpython" else None
