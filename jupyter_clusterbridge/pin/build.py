"""Builds a wheel from a project on this machine or from a commit, and never writes into the project."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from jupyter_clusterbridge.model.errors import PackageNotFound
from jupyter_clusterbridge.pin.folders import cache_folder
from jupyter_clusterbridge.pin.uv import Resolver, Where, find_uv, run_tool, sanitise, uv_variables
from jupyter_clusterbridge.pin.wheels import normalise_wheel

_SKIPPED = {
    ".git", ".hg", ".venv", "venv", "env", ".tox", ".nox", "node_modules", "__pycache__", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".clusterbridge", ".eggs", "build", "dist",
}  # fmt: skip
_SECRETS = {
    ".env", ".netrc", "_netrc", ".pypirc", ".npmrc", ".pgpass", ".git-credentials", "id_rsa", "id_dsa", "id_ecdsa",
    "id_ed25519",
}  # fmt: skip
"""Files that are secrets by name and that no package needs, though its build may pack whatever lies there."""
_GIT_TIMEOUT_S = 120
_LOG_LINES = 8


def build_project(name: str, version: str, project: Path, resolver: Resolver) -> Path:
    """Build a wheel from a project's folder as it stands now.

    The folder is copied first, without files that are secrets by name. The wheel is kept in the cache for as
    long as no file of the project changes; its bytes depend on the project's content alone.

    Args:
        name: distribution name, for the message.
        version: the version that is installed; tools that ask version control get this one.
        project: folder with ``pyproject.toml`` or ``setup.py``.
        resolver: gives target, interpreter and the settings of pip.

    Raises:
        PackageNotFound: the project cannot be built; the message holds the end of the log.
    """
    files = sorted(name for name in _files(project) if Path(name).name not in _SECRETS)
    key = hashlib.sha256(
        f"2\0{name}\0{version}\0{resolver.target.resolver_platform}\0{resolver.target.python}".encode()
    )
    for file in files:
        stat = (project / file).stat()
        key.update(f"\0{project}/{file}\0{stat.st_size}\0{stat.st_mtime_ns}".encode())
    kept = cache_folder() / "wheels" / key.hexdigest()
    ready = sorted(kept.glob("*.whl"))
    if ready:
        return ready[0]
    with tempfile.TemporaryDirectory(prefix="clusterbridge-") as folder:
        copy = Path(folder, "source")
        _copy(project, copy, files)
        return _build(name, version, copy, kept, resolver)


def build_commit(name: str, version: str, origin: str, resolver: Resolver) -> Path:
    """Build a wheel from a commit of a git repository, ``git+<address>@<commit>``.

    Raises:
        PackageNotFound: the commit cannot be fetched or built.
    """
    address, _, commit = origin.removeprefix("git+").rpartition("@")
    commit, _, subfolder = commit.partition("#subdirectory=")
    key = hashlib.sha256(f"1\0{origin}\0{resolver.target.resolver_platform}\0{resolver.target.python}".encode())
    kept = cache_folder() / "wheels" / key.hexdigest()
    ready = sorted(kept.glob("*.whl"))
    if ready:
        return ready[0]
    with tempfile.TemporaryDirectory(prefix="clusterbridge-") as folder:
        for step in (
            ("clone", "--quiet", "--no-checkout", address, folder + "/source"),
            ("-C", folder + "/source", "-c", "advice.detachedHead=false", "checkout", "--quiet", commit),
            ("-C", folder + "/source", "submodule", "--quiet", "update", "--init", "--recursive"),
        ):
            done = _git(*step)
            if done is None or done.returncode != 0:
                reason = "git is missing" if done is None else sanitise(done.stderr).splitlines()[-1:]
                raise PackageNotFound(f"{name} {version} was installed from git and cannot be fetched: {reason}")
        return _build(name, version, Path(folder, "source", subfolder), kept, resolver)


def _build(name: str, version: str, project: Path, kept: Path, resolver: Resolver) -> Path:
    out = project.parent / "out"
    command = [
        find_uv(),
        "build",
        "--wheel",
        "--no-config",
        "--python",
        str(resolver.python),
        "--out-dir",
        str(out),
    ]
    done = run_tool([*command, str(project)], str(project.parent), _build_environ(version, resolver))
    built = sorted(out.glob("*.whl"))
    if done.returncode != 0 or not built:
        log = "\n".join(sanitise(done.stderr).splitlines()[-_LOG_LINES:])
        raise PackageNotFound(
            f"{name} {version} is a local project that cannot be built into a wheel:\n{log}",
            hint="Make 'uv build --wheel' work in the project's folder, or install the package from an index.",
        )
    normalise_wheel(built[0], kept / built[0].name)
    return kept / built[0].name


def _build_environ(version: str, resolver: Resolver) -> Mapping[str, str]:
    environ = uv_variables(resolver.settings, Where.HERE)
    environ.pop("VIRTUAL_ENV", None)
    return {
        **environ,
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "SOURCE_DATE_EPOCH": "315532800",
        "SETUPTOOLS_SCM_PRETEND_VERSION": version,
        "PBR_VERSION": version,
    }


def _files(project: Path) -> Iterator[str]:
    """The project's own files, relative to its folder: what git would keep, or all but caches and environments."""
    done = _git("-C", str(project), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done is not None and done.returncode == 0:
        for name in dict.fromkeys(done.stdout.split("\0")):
            if name and (project / name).is_file():
                yield name
        return
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and not name.endswith(".egg-info")
            and not Path(folder, name, "pyvenv.cfg").exists()
        )
        for file in files:
            yield os.path.relpath(os.path.join(folder, file), project)


def _copy(project: Path, target: Path, files: list[str]) -> None:
    # backends that ask git which files belong to the package need a repository around the copy
    top = _git("-C", str(project), "rev-parse", "--show-toplevel")
    if top is not None and top.returncode == 0 and Path(top.stdout.strip()) == project.resolve():
        _git("clone", "--quiet", "--no-checkout", "--shared", str(project), str(target))
        _git("-C", str(target), "reset", "--quiet")
    for file in files:
        place = target / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(project / file, place)


def _git(*arguments: str) -> subprocess.CompletedProcess[str] | None:
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False, env=environ
        )
    except (OSError, subprocess.SubprocessError):
        return None
