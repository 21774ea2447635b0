"""Locked virtual environments, kept in a cache by the digest of what is in them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from jupyter_clusterbridge.engines.base import Progress
from jupyter_clusterbridge.engines.interpreter import Interpreter
from jupyter_clusterbridge.model.bundle import REQUIREMENTS_FILE, WHEELS_FOLDER
from jupyter_clusterbridge.model.canonical import digest_file, digest_json, digest_lines
from jupyter_clusterbridge.model.errors import EnvironmentFailed
from jupyter_clusterbridge.model.files import explain_os_error, write_atomic
from jupyter_clusterbridge.pin.pip_config import read_pip_settings
from jupyter_clusterbridge.pin.uv import Where, find_uv, sanitise, uv_variables

CACHE_VARIABLE = "CLUSTERBRIDGE_CACHE"
"""Names another cache folder than the platform's own."""

_MARKER = "clusterbridge.complete"
_TAIL_LINES = 15
_MISLEADING = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"}
"""Variables that point an installer at another environment than the one that it is told."""


@dataclass(frozen=True)
class LockedEnvironment:
    """One virtual environment of the cache; it may not be there yet."""

    folder: Path
    interpreter: Interpreter
    requirements: Path
    wheels: Path

    @property
    def python(self) -> Path:
        """The environment's own interpreter."""
        return self.bin / ("python.exe" if os.name == "nt" else "python")

    @property
    def bin(self) -> Path:
        """Folder of the environment's commands."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")


def cache_folder() -> Path:
    """Where environments are kept."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else Path(platformdirs.user_cache_dir("clusterbridge"))


def locked_environment(bundle: Path, interpreter: Interpreter) -> LockedEnvironment:
    """The environment of a bundle's lock under an interpreter; its folder's name tells both."""
    requirements = bundle / REQUIREMENTS_FILE
    key = {"requirements": digest_file(requirements), "python": [interpreter.path, interpreter.version]}
    name = digest_json(key).split(":", 1)[1][:32]
    folder = cache_folder() / "envs" / name
    return LockedEnvironment(folder, interpreter, requirements, bundle / WHEELS_FOLDER)


def ensure_environment(environment: LockedEnvironment, progress: Progress) -> bool:
    """Make the environment unless it is there, whole and unchanged.

    Returns:
        Whether it was made now.

    Raises:
        EnvironmentFailed: the installer refused, for example because a hash does not match.
        DiskFull, FolderNotWritable: the cache cannot be written.
    """
    folder = environment.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from None
    with _only_one(folder.with_name(folder.name + ".lock")):
        if _is_whole(folder):
            return False
        if folder.exists():
            progress("the cached environment was changed after it was made; making it afresh")
            shutil.rmtree(folder, ignore_errors=True)
        _make(environment, progress)
        return True


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, so that two runs do not make one environment at once."""
    try:
        import fcntl
    except ImportError:  # Windows; the rename at the end still decides who was first
        yield
        return
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _make(environment: LockedEnvironment, progress: Progress) -> None:
    """Build beside the place and rename, so that a killed build leaves nothing that looks whole."""
    folder = environment.folder
    staging = folder.with_name(folder.name + ".part")
    shutil.rmtree(staging, ignore_errors=True)
    began = time.monotonic()
    progress(f"making the environment: Python {environment.interpreter.version}, {_count(environment)} packages")
    part = LockedEnvironment(staging, environment.interpreter, environment.requirements, environment.wheels)
    try:
        _uv("venv", "--relocatable", "--no-project", "--python", environment.interpreter.path, str(staging))
        _install(part)
        write_atomic(staging / _MARKER, _state(staging).encode("ascii"))
        os.replace(staging, folder)
    except OSError as error:
        raise explain_os_error(error, folder) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    progress(f"environment ready after {time.monotonic() - began:.1f} s")


def _count(environment: LockedEnvironment) -> int:
    return environment.requirements.read_text("utf-8").count("==")


def _install(environment: LockedEnvironment) -> None:
    arguments = ["--python", str(environment.python), "--require-hashes", "--no-deps", "--no-progress"]
    if environment.wheels.is_dir():
        arguments += ["--find-links", str(environment.wheels)]
    # pip takes the best of all indexes; the hashes decide what may come from where
    arguments += ["--index-strategy", "unsafe-best-match", "-r", str(environment.requirements)]
    _uv("pip", "install", *arguments)


def _uv(*arguments: str) -> None:
    command = [find_uv(), *arguments, "--no-config"]
    done = subprocess.run(
        command, env=installer_variables(), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise EnvironmentFailed(f"the locked environment could not be installed:\n{_tail(sanitise(done.stderr))}")


def installer_variables() -> dict[str, str]:
    """The process's variables with pip's index and certificate settings in the installer's own words."""
    variables = uv_variables(read_pip_settings(), Where.ALL)
    return {name: value for name, value in variables.items() if name not in _MISLEADING}


def _tail(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL_LINES:])


def _is_whole(folder: Path) -> bool:
    """Whether the environment was finished and still holds the packages that it was made with."""
    try:
        return (folder / _MARKER).read_text("ascii") == _state(folder)
    except OSError:
        return False


def _state(folder: Path) -> str:
    """A cheap fingerprint: names in site-packages, and size and time of what each package lists as its own.

    It sees an install, an upgrade or a removal by any installer, such as a job's own ``!pip install``.
    """
    lines = []
    for site in sorted(folder.glob("lib*/python*/site-packages")) or [folder / "Lib" / "site-packages"]:
        for item in sorted(site.iterdir()):
            if item.name == "__pycache__":
                continue
            record = item / "RECORD"
            stat = record.stat() if item.name.endswith(".dist-info") and record.exists() else None
            lines.append(f"{item.name} {stat.st_size} {stat.st_mtime_ns}" if stat else item.name)
    return digest_lines(lines)
