"""Locks made with the real resolver from real, small environments."""

from __future__ import annotations

import base64
import getpass
import hashlib
import http.server
import re
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from conftest import SmallEnvironment, uv, write_project

from jupyter_clusterbridge.model.environment import Distribution, Environment, SourceKind
from jupyter_clusterbridge.model.errors import LockFailed, PackageNotFound
from jupyter_clusterbridge.pin.observe import observe_python
from jupyter_clusterbridge.pin.resolve import ResolvedLock, resolve
from jupyter_clusterbridge.pin.selection import RUNTIME_NEEDS

MODULES = ("cbdir", "cbedit", "cbgit", "cbwheel", "six")


@pytest.fixture(scope="module")
def observed(small: SmallEnvironment) -> Environment:
    """The small environment as it is seen from outside."""
    return observe_python(small.python, MODULES)


@pytest.fixture(scope="module")
def locked(observed: Environment, small: SmallEnvironment, shared_cache: Path) -> Iterator[ResolvedLock]:
    """Its lock for the platform it is on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLUSTERBRIDGE_CACHE", str(shared_cache))
        yield resolve(observed, python=small.python)


def packages(lock: ResolvedLock) -> dict[str, str]:
    return {package.name: package.version for package in lock.lock.packages}


def plain(*distributions: Distribution, **changes: object) -> Environment:
    """An environment of these distributions and of what a job always needs."""
    environment = Environment(python="3.11.7", libc="glibc 2.36", distributions=distributions)
    return replace(environment, **changes)  # type: ignore[arg-type]


def test_each_source_is_told_apart(observed: Environment) -> None:
    kinds = {dist.name: dist.source for dist in observed.distributions}
    assert kinds["six"] is SourceKind.INDEX
    assert kinds["cbedit"] is SourceKind.EDITABLE
    assert kinds["cbdir"] is SourceKind.DIRECTORY
    assert kinds["cbgit"] is SourceKind.GIT
    assert kinds["cbwheel"] is SourceKind.WHEEL


def test_what_an_index_serves_is_pinned_with_its_hashes(locked: ResolvedLock) -> None:
    entry = re.search(r"^six==1\.17\.0 (\\\n    --hash=sha256:[0-9a-f]{64} ?)+", locked.requirements, re.MULTILINE)
    assert entry is not None
    assert "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274" in entry[0]


def test_what_no_index_serves_is_shipped(locked: ResolvedLock) -> None:
    names = {name.split("-")[0] for name in locked.wheels}
    assert names == {"cbdir", "cbedit", "cbgit", "cbwheel"}
    assert all(path.is_file() for path in locked.wheels.values())
    shipped = {file.filename for package in locked.lock.packages for file in package.files if file.shipped}
    assert shipped == set(locked.wheels)


def test_the_runtimes_needs_are_there_though_the_environment_lacks_them(locked: ResolvedLock) -> None:
    assert set(RUNTIME_NEEDS) <= set(packages(locked))
    assert "traitlets" in packages(locked)


def test_an_installer_that_checks_hashes_accepts_the_lock(locked: ResolvedLock, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    for name, path in locked.wheels.items():
        (tmp_path / "wheels" / name).write_bytes(path.read_bytes())
    (tmp_path / "requirements.txt").write_text(locked.requirements)
    (tmp_path / "pylock.toml").write_text(locked.pylock)
    python = str(tmp_path / "venv" / "bin" / "python")
    uv("venv", "-q", "-p", "3.11", str(tmp_path / "venv"))
    options = ["--require-hashes", "--no-deps", "--find-links", str(tmp_path / "wheels")]
    uv("pip", "install", "-q", "--python", python, *options, "-r", str(tmp_path / "requirements.txt"))
    assert {dist.name for dist in observe_python(Path(python)).distributions} == set(packages(locked))
    uv("venv", "-q", "-p", "3.11", "--clear", str(tmp_path / "venv"))
    uv("pip", "sync", "-q", "--python", python, "--preview", str(tmp_path / "pylock.toml"))
    assert {dist.name for dist in observe_python(Path(python)).distributions} == set(packages(locked))


def test_no_path_name_or_setting_of_this_machine_is_written(locked: ResolvedLock, small: SmallEnvironment) -> None:
    texts = [locked.requirements, locked.pylock, repr(locked.lock)]
    for path in locked.wheels.values():
        with zipfile.ZipFile(path) as archive:
            texts += [archive.read(name).decode("utf-8", "replace") for name in archive.namelist()]
            assert not [name for name in archive.namelist() if "direct_url" in name or name.endswith(".pyc")]
    for text in texts:
        assert "file:" not in text
        assert str(small.folder) not in text
        assert "small-user-home" not in text
        assert str(Path.home()) + "/" not in text
        assert socket.gethostname() not in text or len(socket.gethostname()) < 4
        assert getpass.getuser() == "root" or getpass.getuser() not in text
        assert "#" not in text.split("Metadata-Version")[0] or ".py" in text or "import" in text


def test_two_folders_give_the_same_bytes(
    small: SmallEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for user in ("ann", "ben"):
        monkeypatch.setenv("CLUSTERBRIDGE_CACHE", str(tmp_path / user / "cache"))
        project = write_project(tmp_path / user / "work" / "cbedit", "cbedit")
        dist = Distribution("cbedit", "1.0", SourceKind.EDITABLE, str(project), loaded=True)
        done = resolve(plain(dist), python=small.python)
        (wheel,) = done.wheels.values()
        found.append((done.requirements, done.pylock, wheel.name, wheel.read_bytes()))
    assert found[0] == found[1]


def test_a_build_leaves_the_project_as_it_was(small: SmallEnvironment, tmp_path: Path) -> None:
    project = write_project(tmp_path / "cbedit", "cbedit")
    before = sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*"))
    resolve(
        plain(Distribution("cbedit", "1.0", SourceKind.EDITABLE, str(project), loaded=True)), python=small.python
    )
    assert sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*")) == before


def test_a_secret_beside_a_projects_modules_stays_out_of_its_wheel(
    small: SmallEnvironment, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "cbedit", "cbedit")
    (project / "cbedit.py").unlink()
    package = project / "cbedit"
    package.mkdir()
    for name in ("__init__.py", "data.csv", ".env"):
        (package / name).write_text('"""Made for a test."""\n')
    dist = Distribution("cbedit", "1.0", SourceKind.EDITABLE, str(project), loaded=True)
    shipped = resolve(plain(dist), python=small.python).wheels
    wheel = next(path for name, path in shipped.items() if name.startswith("cbedit"))
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("cbedit/")}
    assert names == {"cbedit/__init__.py", "cbedit/data.csv"}


def test_a_changed_project_is_built_anew_and_its_new_version_is_told(
    small: SmallEnvironment, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "cbedit", "cbedit")
    dist = Distribution("cbedit", "1.0", SourceKind.EDITABLE, str(project), loaded=True)
    first = resolve(plain(dist), python=small.python)
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace('"1.0"', '"1.5"'))
    second = resolve(plain(dist), python=small.python)
    assert packages(first)["cbedit"] == "1.0"
    assert packages(second)["cbedit"] == "1.5"
    assert any("builds version 1.5" in warning for warning in second.lock.warnings)


def test_a_project_that_does_not_build_is_named_with_the_reason(small: SmallEnvironment, tmp_path: Path) -> None:
    project = write_project(tmp_path / "cbedit", "cbedit")
    (project / "cbedit.py").write_text("this is no Python")
    dist = Distribution("cbedit", "1.0", SourceKind.EDITABLE, str(project), loaded=True)
    with pytest.raises(PackageNotFound, match=r"cbedit 1\.0") as caught:
        resolve(plain(dist), python=small.python)
    assert "SyntaxError" in caught.value.message or "invalid syntax" in caught.value.message


def test_a_version_that_nobody_has_is_named(small: SmallEnvironment) -> None:
    dist = Distribution("six", "1.17.0+nobody", SourceKind.LOCAL_VERSION, loaded=True)
    with pytest.raises(PackageNotFound, match=r"six 1\.17\.0\+nobody"):
        resolve(plain(dist), python=small.python)


def test_a_git_install_that_is_gone_is_built_from_its_commit(small: SmallEnvironment) -> None:
    origin = f"git+file://{small.folder / 'cbgit'}@{small.commit}"
    dist = Distribution("cbgit", "1.0", SourceKind.GIT, origin, loaded=True)
    done = resolve(plain(dist, system="darwin", machine="arm64"), python=Path("/gone/python"))
    assert packages(done)["cbgit"] == "1.0"


def test_a_local_label_is_found_where_pips_settings_point(
    small: SmallEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_project(tmp_path / "six", "six", "1.17.0+mine")
    uv("build", "-q", "--wheel", "--out-dir", str(tmp_path / "links"), str(project))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    dist = Distribution("six", "1.17.0+mine", SourceKind.LOCAL_VERSION, loaded=True)
    done = resolve(plain(dist), python=small.python)
    assert packages(done)["six"] == "1.17.0+mine"
    assert {path.parent for path in done.wheels.values()} == {tmp_path / "links"}
    assert re.search(r"^six==1\.17\.0\+mine \\\n    --hash=sha256:[0-9a-f]{64}$", done.requirements, re.MULTILINE)


def test_an_index_with_a_password_is_named_without_it(
    small: SmallEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_project(tmp_path / "cbextra", "cbextra", "2.0+gpu")
    place = tmp_path / "index" / "simple" / "cbextra"
    uv("build", "-q", "--wheel", "--out-dir", str(place), str(project))
    wheel = next(place.glob("*.whl"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (place / "index.html").write_text(f'<a href="{wheel.name.replace("+", "%2B")}#sha256={digest}">x</a>')
    handler = partial(_Quiet, directory=str(tmp_path / "index"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"127.0.0.1:{server.server_address[1]}/simple"
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"http://someone:s3cret@{address}")
        done = resolve(plain(Distribution("cbextra", "2.0+gpu", SourceKind.LOCAL_VERSION, loaded=True)))
    finally:
        server.shutdown()
        server.server_close()
    assert f"cbextra @ http://{address}/cbextra/{wheel.name.replace('+', '%2B')}" in done.requirements
    assert f"--hash=sha256:{digest}" in done.requirements
    assert "s3cret" not in done.requirements + done.pylock + repr(done.lock)
    assert not done.wheels


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """An index that wants a password."""

    def do_GET(self) -> None:
        """Serve a file to who knows the password."""
        expected = base64.b64encode(b"someone:s3cret").decode()
        if self.headers.get("Authorization") == f"Basic {expected}":
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_an_index_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://someone:s3cret@127.0.0.1:9/simple")
    with pytest.raises(LockFailed, match=r"http://127\.0\.0\.1:9 cannot be used") as caught:
        resolve(plain(Distribution("six", "1.17.0", loaded=True)))
    assert "s3cret" not in caught.value.message


def test_settings_of_the_resolver_itself_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLUSTERBRIDGE_CACHE", str(tmp_path))
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2001-01-01")
    assert packages(resolve(plain(Distribution("six", "1.17.0", loaded=True))))["six"] == "1.17.0"


def test_the_same_versions_are_locked_for_another_architecture(small: SmallEnvironment) -> None:
    dist = Distribution("markupsafe", "3.0.2", loaded=True)
    here = resolve(plain(dist), python=small.python)
    there = resolve(plain(dist), platform="linux/arm64", python=small.python)
    files = {package.name: package.files for package in there.lock.packages}["markupsafe"]
    assert packages(here)["markupsafe"] == packages(there)["markupsafe"] == "3.0.2"
    assert any("aarch64" in file.filename for file in files)
    assert not any("x86_64" in file.filename for file in files)
    assert any("aarch64" in sentence for sentence in there.lock.known_differences)


def test_a_label_without_a_build_there_gives_way_to_the_public_version(small: SmallEnvironment) -> None:
    dist = Distribution("markupsafe", "3.0.2+avx", SourceKind.LOCAL_VERSION, loaded=True)
    done = resolve(plain(dist), platform="linux/arm64", python=small.python)
    assert packages(done)["markupsafe"] == "3.0.2"
    assert any("markupsafe 3.0.2+avx has no build" in sentence for sentence in done.lock.known_differences)


def test_a_record_from_macos_loses_what_markers_drop_and_gains_what_they_ask_for() -> None:
    needs = (
        'appnope>=0.1.2; platform_system == "Darwin"',
        'distro>=1.9; sys_platform == "linux"',
        'colorama; sys_platform == "win32"',
    )
    environment = plain(
        Distribution("appnope", "0.1.4", loaded=True),
        Distribution("cbtop", "1.0", SourceKind.CONDA, loaded=True, requires=needs),
        Distribution("six", "1.17.0", loaded=True, requires=needs),
        Distribution("pywin32", "306", loaded=True),
        system="darwin",
        machine="arm64",
        libc=None,
        variables={"OPENBLAS_CORETYPE": "VORTEX", "PYTHONHASHSEED": "0"},
    )
    done = resolve(environment)
    found, sentences = packages(done), " ".join(done.lock.known_differences)
    assert found["six"] == "1.17.0"
    assert "appnope" not in found
    assert "colorama" not in found
    assert "distro" in found
    assert "distro" in sentences
    assert "pywin32 306 has no build" in sentences
    assert done.lock.variables == {"PYTHONHASHSEED": "0"}


def test_the_version_in_memory_is_locked_and_both_are_named() -> None:
    dist = Distribution("six", "1.17.0", loaded=True, loaded_version="1.16.0", installed_after_import=True)
    done = resolve(plain(dist))
    assert packages(done)["six"] == "1.16.0"
    (warning,) = done.lock.warnings
    assert "1.16.0" in warning
    assert "1.17.0" in warning


def test_thread_counts_of_the_notebook_become_variables() -> None:
    dist = Distribution("six", "1.17.0", loaded=True)
    done = resolve(plain(dist, threads={"torch": 3, "openblas": 6}, cpu_count=6))
    assert done.lock.variables == {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "6"}


def test_clusterbridge_and_what_only_it_needs_stay_out() -> None:
    ours = Distribution(
        "jupyter-clusterbridge", "0.1.0", SourceKind.EDITABLE, "/gone", requires=("click>=8", "ipykernel")
    )
    environment = plain(ours, Distribution("click", "8.1.8"), Distribution("six", "1.17.0"))
    found = packages(resolve(environment, scope="all"))
    assert "six" in found
    assert not {"click", "jupyter-clusterbridge"} & set(found)


def test_an_unknown_platform_is_refused() -> None:
    with pytest.raises(LockFailed, match="windows/amd64"):
        resolve(plain(), platform="windows/amd64")


def test_where_nothing_is_known_of_the_imports_everything_is_locked_and_that_is_said() -> None:
    environment = plain(Distribution("six", "1.17.0"))
    unknown, none = resolve(environment), resolve(environment, imports=())
    assert "six" in packages(unknown)
    assert any("every package is locked" in warning for warning in unknown.lock.warnings)
    assert not none.lock.warnings


def test_a_package_from_conda_comes_from_the_index_and_the_other_build_is_told() -> None:
    done = resolve(plain(Distribution("six", "1.17.0", SourceKind.CONDA, loaded=True)))
    assert packages(done)["six"] == "1.17.0"
    assert any("another build: six" in sentence for sentence in done.lock.known_differences)
