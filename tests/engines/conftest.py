"""Small bundles without torch, locked once a session, and the engines to run them on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest

from jupyter_clusterbridge.engines.images import image_tag
from jupyter_clusterbridge.engines.targets.local import this_platform
from jupyter_clusterbridge.export.render import render_dockerfile, render_dockerignore
from jupyter_clusterbridge.export.runtime_wheel import REQUIRES, build_runtime_wheel
from jupyter_clusterbridge.model.bundle import BUNDLE_FILE, BundleManifest
from jupyter_clusterbridge.model.canonical import digest_bytes, digest_file
from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.model.environment import SourceKind
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.lock import BaseImage, Lock, LockedFile, LockedPackage
from jupyter_clusterbridge.model.record import FileRecord
from jupyter_clusterbridge.model.version import VERSION
from jupyter_clusterbridge.runtime.bundle import seal

DEV = Path(__file__).resolve().parents[2] / "dev" / "engines"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+) \\$")


@dataclass(frozen=True)
class Locked:
    """The runtime's own needs, with hashes."""

    requirements: str
    wheel: Path
    packages: tuple[LockedPackage, ...]


@dataclass
class BundleMaker:
    """Writes bundles that differ in their notebook only, so that an image's environment is built once."""

    folder: Path
    locked: Locked
    base_image: BaseImage
    made: list[Path] = field(default_factory=list)

    def __call__(
        self,
        *cells: str,
        requirements: str | None = None,
        data: Mapping[str, bytes] | None = None,
        variables: Mapping[str, str] | None = None,
        base_image: BaseImage | None = None,
        files: Mapping[str, str] | None = None,
        platform: str | None = None,
        python: str | None = None,
    ) -> Path:
        bundle = self.folder / f"bundle{len(self.made) + 1}"
        self.made.append(bundle)
        (bundle / "wheels").mkdir(parents=True)
        (bundle / "wheels" / self.locked.wheel.name).write_bytes(self.locked.wheel.read_bytes())
        (bundle / "requirements.txt").write_text(
            self.locked.requirements if requirements is None else requirements
        )
        _write_notebook(bundle / "notebook.ipynb", cells)
        manifest = BundleManifest(
            name="tiny",
            written_by=VERSION,
            identity=_identity(),
            lock=Lock(
                python or ".".join(map(str, sys.version_info[:3])),
                platform or this_platform(),
                self.locked.packages,
                dict(variables or {}),
            ),
            base_image=base_image or self.base_image,
            data=tuple(FileRecord(name, len(body), digest_bytes(body)) for name, body in (data or {}).items()),
        )
        (bundle / ".dockerignore").write_text(render_dockerignore())
        entries = {item.name + ("/" if item.is_dir() else "") for item in bundle.iterdir()}
        (bundle / "Dockerfile").write_text(
            render_dockerfile(manifest, sorted({*entries, "bundle.json", "Dockerfile"}))
        )
        for name, text in (files or {}).items():
            (bundle / name).write_text(text)
        seal(bundle, manifest)
        return bundle


def _identity() -> Identity:
    digest = digest_bytes(b"")
    return Identity.of(code=digest, env=digest, data=digest, order=digest, seeds=digest)


def _write_notebook(path: Path, cells: Sequence[str]) -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.cells = [nbformat.v4.new_code_cell(source, id=f"cell{index}") for index, source in enumerate(cells)]
    nbformat.write(notebook, path)


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Locked:
    """Resolves the runtime's needs once, with the index that pip is configured for."""
    from jupyter_clusterbridge.engines.environments import installer_variables
    from jupyter_clusterbridge.pin.uv import find_uv

    folder = tmp_path_factory.mktemp("lock")
    wheel = build_runtime_wheel(folder)
    (folder / "in.txt").write_text("\n".join(REQUIRES) + "\n")
    command = [
        find_uv(),
        "pip",
        "compile",
        "in.txt",
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--quiet",
    ]
    done = subprocess.run(
        [*command, "--python", sys.executable, "--no-config"],
        cwd=folder,
        env=installer_variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    digest = digest_file(wheel).split(":")[1]
    own = f"jupyter-clusterbridge-runtime=={VERSION} \\\n    --hash=sha256:{digest}\n"
    packages = [
        LockedPackage(match[1], match[2], SourceKind.INDEX, ())
        for match in map(_PIN.match, done.stdout.splitlines())
        if match
    ]
    shipped = LockedFile(wheel.name, digest, shipped=True)
    packages.append(LockedPackage("jupyter-clusterbridge-runtime", VERSION, SourceKind.WHEEL, (shipped,)))
    return Locked(done.stdout + own, wheel, tuple(packages))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of environments for this session alone."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("CLUSTERBRIDGE_CACHE")
    os.environ["CLUSTERBRIDGE_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["CLUSTERBRIDGE_CACHE"]
    else:
        os.environ["CLUSTERBRIDGE_CACHE"] = before


@pytest.fixture
def make_bundle(tmp_path: Path, locked: Locked, cache: Path) -> BundleMaker:
    """Writes bundles whose base image is one that no test pulls."""
    return BundleMaker(tmp_path, locked, BaseImage("python:3.11-slim"))


@pytest.fixture(scope="session")
def run_script() -> Callable[..., str]:
    """Runs a script of ``dev/engines`` and gives what it prints; a failure skips the test, and in CI fails it."""

    def run(*command: str) -> str:
        done = subprocess.run([str(DEV / command[0]), *command[1:]], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            message = f"dev/engines/{' '.join(command)}: {done.stderr.strip()}"
            if os.environ.get("CLUSTERBRIDGE_CI") == "1":
                pytest.fail(message)
            pytest.skip(message)
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def base_image(docker_engine: None, run_script: Callable[..., str]) -> BaseImage:
    """The base image with this very interpreter, as the engine's own image."""
    import docker

    reference = run_script("base-image", "--python", sys.executable)
    return BaseImage(reference, docker.from_env().images.get(reference).id, local=True)


@pytest.fixture(scope="session")
def kept_image(docker_engine: None) -> Iterator[list[str]]:
    """The first image of the session stays until its end, and with it the layer that all others begin with."""
    kept: list[str] = []
    yield kept
    remove_images(kept)


@pytest.fixture
def make_image_bundle(
    make_bundle: BundleMaker, base_image: BaseImage, kept_image: list[str]
) -> Iterator[BundleMaker]:
    """Writes bundles whose image can be built here; the images go again."""
    make_bundle.base_image = base_image
    yield make_bundle
    tags = [
        image_tag(from_json(BundleManifest, json.loads((bundle / BUNDLE_FILE).read_bytes())))
        for bundle in make_bundle.made
    ]
    if not kept_image:
        kept_image.append(tags.pop(0))
    remove_images(tags)


def remove_images(tags: Sequence[str]) -> None:
    """Remove images that may not be there."""
    import docker

    client = docker.from_env()
    for tag in tags:
        with contextlib.suppress(docker.errors.ImageNotFound):
            client.images.remove(tag)


@pytest.fixture(params=["local", pytest.param("docker", marks=pytest.mark.engine)])
def engine_name(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    if request.param == "docker":
        request.getfixturevalue("docker_engine")
    return str(request.param)


@pytest.fixture
def bundle_for_engine(request: pytest.FixtureRequest, engine_name: str) -> BundleMaker:
    """Writes bundles that the engine of the test can run."""
    maker = request.getfixturevalue("make_image_bundle" if engine_name == "docker" else "make_bundle")
    assert isinstance(maker, BundleMaker)
    return maker


@pytest.fixture
def nothing_left(docker_engine: None) -> Iterator[None]:
    """Fails when a test leaves a container or a nameless image of ours behind."""
    import docker

    client = docker.from_env()

    def ours() -> set[str]:
        containers = client.containers.list(all=True, filters={"label": "clusterbridge.run"})
        images = client.images.list(filters={"dangling": True, "label": "org.opencontainers.image.title=tiny"})
        return {str(item.id) for item in (*containers, *images)}

    before = ours()
    yield
    assert ours() <= before
