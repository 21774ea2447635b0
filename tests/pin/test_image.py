"""Base images against a registry that speaks HTTP on loopback, and a real engine where there is one."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator

import pytest

from jupyter_clusterbridge.model.errors import LockFailed, RegistryRefused
from jupyter_clusterbridge.pin.image import resolve_base_image
from jupyter_clusterbridge.pin.registry import ImageName

DIGEST = "sha256:" + "ab" * 32


class _Registry(http.server.BaseHTTPRequestHandler):
    """Has ``open/base:1`` for all, ``closed/base:1`` for who has a token, and nothing else."""

    def do_HEAD(self) -> None:
        """Answer for a manifest."""
        place = f"127.0.0.1:{self.server.server_address[1]}"  # type: ignore[index]
        known = self.path in ("/v2/open/base/manifests/1", "/v2/closed/base/manifests/1")
        if "closed" in self.path and self.headers.get("Authorization") != "Bearer letmein":
            challenge = f'Bearer realm="http://{place}/token",service="s",scope="repository:closed/base:pull"'
            self._answer(401, {"WWW-Authenticate": challenge})
        elif "locked" in self.path:
            self._answer(403, {})
        elif "slow" in self.path:
            time.sleep(8)
        elif known and "image.index" in self.headers.get("Accept", ""):
            self._answer(200, {"Docker-Content-Digest": DIGEST})
        else:
            self._answer(404, {})

    def do_GET(self) -> None:
        """Hand a token out to anybody."""
        self._answer(200, {}, json.dumps({"token": "letmein"}).encode())

    def _answer(self, code: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def registry() -> Iterator[str]:
    """Host and port of a registry."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is down."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("name", ["open/base:1", "closed/base:1"])
def test_a_tag_is_pinned_by_its_digest(registry: str, name: str) -> None:
    found = resolve_base_image(f"{registry}/{name}", "3.11.7")
    assert (found.ref, found.digest, found.local, found.floating) == (f"{registry}/{name}", DIGEST, False, False)


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("name", ["open/base:2", "locked/base:1"])
def test_an_image_that_the_user_named_and_the_registry_refuses_is_an_error(registry: str, name: str) -> None:
    with pytest.raises(RegistryRefused, match=name):
        resolve_base_image(f"{registry}/{name}", "3.11.7")


@pytest.mark.usefixtures("no_engine")
def test_a_registry_that_cannot_be_reached_makes_the_image_float() -> None:
    found = resolve_base_image("127.0.0.1:9/base:1", "3.11.7")
    assert found.floating
    assert found.reason is not None
    assert "no registry could be reached" in found.reason


@pytest.mark.usefixtures("no_engine")
def test_a_registry_that_does_not_answer_is_left_after_five_seconds(registry: str) -> None:
    begin = time.monotonic()
    assert resolve_base_image(f"{registry}/slow/base:1", "3.11.7").floating
    assert time.monotonic() - begin < 6


def test_a_digest_in_the_reference_is_taken_as_it_is() -> None:
    found = resolve_base_image(f"python:3.11-slim@{DIGEST}", "3.11.7")
    assert (found.ref, found.digest) == ("python:3.11-slim", DIGEST)


@pytest.mark.parametrize(
    "ref",
    ["", "no image!", "base/Upper", "a b", "x\nRUN y", "me:secret@host.invalid/base:1", f"python@{DIGEST[:20]}"],
)
def test_what_names_no_image_is_refused(ref: str) -> None:
    with pytest.raises(LockFailed, match="is no name of an image"):
        resolve_base_image(ref, "3.11.7")


@pytest.mark.usefixtures("no_engine")
def test_the_default_follows_the_notebooks_python() -> None:
    assert resolve_base_image(None, "3.12.1").ref == "python:3.12.1-slim"


@pytest.mark.parametrize(
    ("ref", "parts"),
    [
        ("python", ("", "library/python", "latest")),
        ("team/base:1", ("", "team/base", "1")),
        ("docker.io/library/python:3", ("", "library/python", "3")),
        ("localhost/base", ("localhost", "base", "latest")),
        ("host.invalid:5000/a/b:2", ("host.invalid:5000", "a/b", "2")),
    ],
)
def test_a_reference_is_taken_apart_as_docker_does(ref: str, parts: tuple[str, str, str]) -> None:
    name = ImageName.parse(ref)
    assert (name.host, name.repository, name.tag) == parts


@pytest.mark.engine
def test_an_image_of_the_local_engine_alone_is_pinned_by_its_id(docker_engine: None) -> None:
    import docker

    client = docker.from_env()
    name = "clusterbridge-test-only-here:1"
    imported = client.api.import_image_from_data(_empty_archive(), repository=name.split(":")[0], tag="1")
    assert imported
    try:
        found = resolve_base_image(name, "3.11.7")
        assert found.local
        assert found.digest == client.images.get(name).id
    finally:
        client.images.remove(name)
        client.close()


def _empty_archive() -> bytes:
    import io
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("empty"))
    return buffer.getvalue()
