"""The docker engine alone: images, registries, isolation, engines elsewhere, and what goes wrong."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator

import docker
import pytest

from jupyter_clusterbridge.app.run import RunRequest, run_bundle
from jupyter_clusterbridge.engines.base import RunOptions
from jupyter_clusterbridge.engines.images import image_tag
from jupyter_clusterbridge.engines.registry import get_engine
from jupyter_clusterbridge.engines.targets.docker import container_settings
from jupyter_clusterbridge.model.errors import (
    BundleInvalid,
    EngineUnavailable,
    EnvironmentFailed,
    RegistryRefused,
)
from jupyter_clusterbridge.model.lock import BaseImage
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import RunState
from jupyter_clusterbridge.runtime.bundle import read_bundle
from jupyter_clusterbridge.runtime.status import read_status

LOOK = """
import json, os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(json.dumps({
    "uid": os.getuid(),
    "capabilities": status["CapEff"],
    "no_new_privileges": status["NoNewPrivs"],
    "shm": os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize,
    "first": open("/proc/1/cmdline").read(),
}))
"""


@pytest.fixture
def registry(docker_engine: None, run_script) -> str:
    """A registry on loopback; without one the test is skipped, and in CI it fails."""
    run_script("registry", "status")
    return run_script("registry", "address")


def printed(run_dir) -> dict[str, object]:
    cells = json.loads((run_dir / "executed.ipynb").read_text())["cells"]
    document = json.loads("".join(cells[0]["outputs"][0]["text"]))
    assert isinstance(document, dict)
    return document


@pytest.mark.engine
def test_the_job_has_no_privileges_and_the_limits_that_were_asked_for(make_image_bundle, nothing_left):
    request = RunRequest(make_image_bundle(LOOK), "docker", resources=Resources(shm_bytes=96 << 20, cpus=1.5))
    seen = printed(run_bundle(request).run_dir)
    assert seen["uid"] != 0
    assert int(str(seen["capabilities"]), 16) == 0
    assert seen["no_new_privileges"] == "1"
    assert seen["shm"] == 96 << 20
    assert "jupyter_clusterbridge.runtime" in str(seen["first"])


@pytest.mark.engine
def test_a_second_run_takes_the_image_that_is_there(make_image_bundle, nothing_left):
    bundle = make_image_bundle("x = 1")
    first: list[str] = []
    second: list[str] = []
    run_bundle(RunRequest(bundle, "docker"), first.append)
    run_bundle(RunRequest(bundle, "docker"), second.append)
    assert any("building the image" in line for line in first)
    assert not any("building the image" in line for line in second)


@pytest.mark.engine
def test_a_base_image_pinned_by_digest_comes_from_the_registry(
    make_image_bundle, registry, run_script, nothing_left
):
    import docker

    pushed = run_script("base-image", "--push")
    name, digest = pushed.split("@")
    client = docker.from_env()
    for tag in client.images.get(pushed).tags:
        if tag.startswith(registry):
            client.images.remove(tag)
    with contextlib.suppress(docker.errors.ImageNotFound):
        client.images.remove(pushed)
    bundle = make_image_bundle("x = 1", base_image=BaseImage(name, digest))
    log: list[str] = []
    assert run_bundle(RunRequest(bundle, "docker"), log.append).status.exit_code == 0
    assert f"fetching the base image {pushed}" in log


@pytest.mark.engine
def test_a_registry_that_refuses_is_named(make_image_bundle, registry, nothing_left):
    digest = "sha256:" + "0" * 64
    bundle = make_image_bundle("x = 1", base_image=BaseImage(f"{registry}/no-such-image", digest))
    with pytest.raises(RegistryRefused, match="no-such-image"):
        run_bundle(RunRequest(bundle, "docker"))
    assert not bundle.with_name(bundle.name + "-runs").exists()


@pytest.mark.engine
def test_a_registry_that_is_not_there_is_named(make_image_bundle):
    bundle = make_image_bundle("x = 1", base_image=BaseImage("127.0.0.1:9/python:3"))
    with pytest.raises(RegistryRefused, match=r"127\.0\.0\.1:9/python:3"):
        run_bundle(RunRequest(bundle, "docker"))


@pytest.mark.engine
def test_an_image_of_the_engine_itself_must_be_the_one_that_was_exported(make_image_bundle, base_image):
    other = BaseImage(base_image.ref, "sha256:" + "1" * 64, local=True)
    with pytest.raises(RegistryRefused, match="another has its name"):
        run_bundle(RunRequest(make_image_bundle("x = 1", base_image=other), "docker"))


@pytest.mark.engine
def test_a_failed_build_shows_its_end_and_leaves_nothing(make_image_bundle, locked, nothing_left):
    head, *rest = locked.requirements.split("--hash=sha256:")
    requirements = "--hash=sha256:".join([head, *("0" * 64 + part[64:] for part in rest)])
    bundle = make_image_bundle("x = 1", requirements=requirements)
    with pytest.raises(EnvironmentFailed, match="THESE PACKAGES DO NOT MATCH THE HASHES"):
        run_bundle(RunRequest(bundle, "docker"))
    assert not bundle.with_name(bundle.name + "-runs").exists()


@pytest.mark.engine
def test_a_bundle_without_a_dockerfile_is_refused(make_image_bundle):
    bundle = make_image_bundle("x = 1")
    document = json.loads((bundle / "bundle.json").read_text())
    assert "Dockerfile" in document["files"]
    (bundle / "Dockerfile").unlink()
    with pytest.raises(BundleInvalid, match="Dockerfile"):
        run_bundle(RunRequest(bundle, "docker"))


@pytest.mark.engine
def test_an_engine_elsewhere_gets_the_data_and_gives_the_run_directory(
    make_image_bundle, nothing_left, monkeypatch, tmp_path
):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "numbers.txt").write_bytes(b"1 2 3\n")
    bundle = make_image_bundle("print(open('deep/numbers.txt').read())", data={"deep/numbers.txt": b"1 2 3\n"})
    with forwarded_socket() as port:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
        result = run_bundle(RunRequest(bundle, "docker", data_dir=tmp_path / "data"))
    assert result.status.exit_code == 0
    assert "1 2 3" in (result.run_dir / "executed.ipynb").read_text()
    assert (result.run_dir / "record" / "record.json").exists()


@pytest.mark.engine
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_engine_that_is_lost_while_the_job_runs_is_said_in_the_status(
    make_image_bundle, nothing_left, monkeypatch, tmp_path
):
    bundle = make_image_bundle("import time\nprint('wait' + 'ing', flush=True)\ntime.sleep(600)")
    run_dir = tmp_path / "lost"
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(forwarded_socket())
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")

        def lose(line: str) -> None:
            if "waiting" in line:
                stack.close()

        with pytest.raises(EngineUnavailable):
            run_bundle(RunRequest(bundle, "docker", out=run_dir), lose)
    monkeypatch.delenv("DOCKER_HOST")
    for container in docker.from_env().containers.list(filters={"label": "clusterbridge.run"}):
        if container.image.tags == [image_tag(read_bundle(bundle))]:
            container.remove(force=True, v=True)
    status = read_status(run_dir)
    assert (status.state, status.exit_code) == (RunState.FAILED, EngineUnavailable.exit_code)
    assert "the engine was lost while the job ran" in status.reason


def test_an_engine_that_is_down_is_one_plain_error(make_bundle, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    bundle = make_bundle("x = 1")
    with pytest.raises(EngineUnavailable, match="no engine is running") as caught:
        run_bundle(RunRequest(bundle, "docker"))
    assert "--engine local" in caught.value.next_step
    assert not bundle.with_name(bundle.name + "-runs").exists()


def test_an_engine_where_nothing_listens_is_one_plain_error(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    info = get_engine("docker").availability()
    assert not info.usable
    assert "nothing listens there" in info.reason


def test_the_container_is_made_without_privileges_whatever_is_asked(make_bundle, tmp_path):
    manifest = read_bundle(make_bundle("x = 1"))
    resources = Resources(cpus=0.5, memory_bytes=1 << 30, shm_bytes=1 << 20, time_limit_s=60)
    options = RunOptions(
        tmp_path, "run-1", resources, data_dir=tmp_path, variables={"CLUSTERBRIDGE_GUARD_STALL": "off"}
    )
    settings = container_settings(manifest, options, shared=True)
    assert settings["cap_drop"] == ["ALL"]
    assert settings["security_opt"] == ["no-new-privileges"]
    assert settings["memswap_limit"] == settings["mem_limit"] == 1 << 30
    assert settings["nano_cpus"] == 500_000_000
    assert not str(settings["user"]).startswith("0:")
    assert settings["command"] == ["--grace", "10", "--data-dir", "/run/data", "--time-limit", "60"]
    assert json.loads(json.dumps(settings)) == settings


@contextlib.contextmanager
def forwarded_socket() -> Iterator[int]:
    """The engine's socket behind a port of loopback, as an engine on another machine is reached."""
    server = socket.create_server(("127.0.0.1", 0))
    open_ends: list[socket.socket] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = server.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect("/var/run/docker.sock")
                open_ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        for end in (server, *open_ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
