"""Binder's steps in a clean container: install, build, start JupyterLab, look at the example."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOME = "/home/jovyan"
ENVIRONMENT = "/srv/env"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
YARN_CACHE = Path("~/.yarn/berry/cache").expanduser()
"""Packages that this machine has fetched already; copied in, they save a minute."""
EXAMPLE = "examples/train_classifier.ipynb"

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(900)]


def missing(reason: str) -> None:
    if os.environ.get("CLUSTERBRIDGE_CI") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def archive_of(files: Mapping[str, Path]) -> bytes:
    """Files by their place in the container."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, file in files.items():
            info = archive.gettarinfo(str(file), name)
            with file.open("rb") as content:
                archive.addfile(info, content)
    return buffer.getvalue()


def archive_of_the_tree() -> bytes:
    """The tree as git would commit it."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    names = sorted(filter(None, listing.stdout.decode().split("\0")))
    return archive_of({name: ROOT / name for name in names if (ROOT / name).is_file()})


def settings_of_pip() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What pip is told on this machine, for the container: variables, and local folders to mount."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    variables: dict[str, str] = {}
    for key, value in re.findall(r"^(?:global|install|:env:)\.([\w-]+)='(.*)'$", listed, re.M):
        name = "PIP_" + key.upper().replace("-", "_")
        variables[name] = " ".join(dict.fromkeys([*variables.get(name, "").split(), *value.split()]))
    words = [word for value in variables.values() for word in value.split()]
    # the pages of an index in files name wheels that lie beside them
    places = [word if word.startswith("/") else str(Path(word.removeprefix("file://")).parent)
              for word in words if word.startswith(("/", "file:///"))]  # fmt: skip
    folders = {
        place: {"bind": place, "mode": "ro"} for place in places if place != CERTIFICATES and Path(place).exists()
    }
    return variables, folders


@pytest.fixture(scope="module")
def container() -> Iterator[Any]:
    """A clean container with a Python of its own for a user who is not root, as Binder's images have."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=600)
        client.ping()
    except DockerException as error:
        missing(f"no Docker engine answers: {error}")
    made = subprocess.run([ROOT / "dev/engines/base-image"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        missing(f"no base image could be made: {made.stderr.strip()}")
    variables, folders = settings_of_pip()
    environment = {
        **variables,
        "HOME": HOME,
        "USER": "jovyan",
        "PATH": f"{ENVIRONMENT}/bin:/usr/local/bin:/usr/bin:/bin",
        "NODE_EXTRA_CA_CERTS": CERTIFICATES,
        "SSL_CERT_FILE": CERTIFICATES,
    }
    running = client.containers.run(
        made.stdout.strip(), ["sleep", "900"], detach=True, init=True, environment=environment, volumes=folders
    )
    try:
        assert running.exec_run(["mkdir", "-p", HOME, ENVIRONMENT]).exit_code == 0
        running.put_archive(HOME, archive_of_the_tree())
        if YARN_CACHE.is_dir():
            running.put_archive(HOME, archive_of({f".yarn/berry/cache/{f.name}": f for f in YARN_CACHE.iterdir()}))
        assert running.exec_run(["chown", "-R", "1000:1000", HOME, ENVIRONMENT]).exit_code == 0
        done(running, f"python3 -m venv {ENVIRONMENT}")
        yield running
    finally:
        running.remove(force=True)


def done(container: Any, command: str) -> str:
    """Run a command in the checkout as the user; its output, after a success."""
    result = container.exec_run(["bash", "-c", command], user="1000", workdir=HOME)
    output = str(result.output.decode(errors="replace"))
    assert result.exit_code == 0, f"{command}\n{output[-8000:]}"
    return output


def fetched(container: Any, path: str) -> str:
    """The answer of the container's server to a GET, with the address that it ended at on the first line."""
    code = (
        "import urllib.request as r; a = r.urlopen('http://127.0.0.1:8888' + %r, timeout=30);"
        "print(a.url); print(a.read().decode())"
    )
    return done(container, f"python -c {code % path!r}".replace("\\'", "'"))


@pytest.fixture(scope="module")
def built(container: Any) -> Any:
    """The container after Binder's build steps."""
    done(container, "pip install --no-cache-dir -r binder/requirements.txt")
    done(container, "./binder/postBuild")
    return container


@pytest.fixture(scope="module")
def started(built: Any) -> Any:
    """The container with JupyterLab running, started as Binder starts it."""
    server = "jupyter lab --ip 127.0.0.1 --port 8888 --no-browser --IdentityProvider.token="
    built.exec_run(["bash", "-c", f"exec {server} >server.log 2>&1"], user="1000", workdir=HOME, detach=True)
    for _ in range(60):
        time.sleep(0.5)
        alive = built.exec_run(["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8888))"])
        if alive.exit_code == 0:
            return built
    pytest.fail(done(built, "cat server.log"))


def test_both_extensions_are_enabled_after_the_build(built: Any) -> None:
    listed = re.sub(r"\x1b\[\d*m", "", done(built, "jupyter labextension list 2>&1"))
    assert re.search(r"jupyter-clusterbridge v[\d.]+ enabled OK", listed), listed
    server = re.sub(r"\x1b\[\d*m", "", done(built, "jupyter server extension list 2>&1"))
    assert "jupyter_clusterbridge enabled" in server


def test_the_build_leaves_no_node_behind(built: Any) -> None:
    assert done(built, "command -v node || true; ls -d node_modules lib 2>/dev/null || true") == ""


def test_jupyterlab_opens_on_the_example(started: Any) -> None:
    address, page = fetched(started, "/").split("\n", 1)
    assert address.endswith(f"/lab/tree/{EXAMPLE}")
    assert "jupyter-clusterbridge" in page


def test_the_server_reads_the_example(started: Any) -> None:
    assert '"clusterbridge/lint/1"' in fetched(started, f"/clusterbridge/findings?path={EXAMPLE}")


def test_the_example_runs(built: Any) -> None:
    command = f"jupyter nbconvert --to notebook --execute --stdout {EXAMPLE} 2>/dev/null"
    assert "accuracy 0.9" in done(built, command)
