"""Small bundles without torch, locked once a session, and the engines to run them on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest

from jupyter_clusterbridge.engines.targets.local import this_platform
from jupyter_clusterbridge.export.render import render_dockerfile, render_dockerignore
from jupyter_clusterbridge.export.runtime_wheel import REQUIRES, build_runtime_wheel
from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import digest_bytes, digest_file
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
    _number: int = field(default=0)

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
        self._number += 1
        bundle = self.folder / f"bundle{self._number}"
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
        entries = ["bundle.json", "notebook.ipynb", "requirements.txt", "wheels/"]
        (bundle / "Dockerfile").write_text(render_dockerfile(manifest, entries))
        (bundle / ".dockerignore").write_text(render_dockerignore())
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


def run_script(*command: str) -> str:
    """Run a script of ``dev/engines`` and return what it prints."""
    done = subprocess.run([str(DEV / command[0]), *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session")
def base_image(docker_engine: None) -> BaseImage:
    """The base image with this very interpreter, as the engine's own image."""
    import docker

    reference = run_script("base-image", "--python", sys.executable)
    return BaseImage(reference, docker.from_env().images.get(reference).id, local=True)


@pytest.fixture
def make_image_bundle(make_bundle: BundleMaker, base_image: BaseImage) -> BundleMaker:
    """Writes bundles whose image can be built here."""
    make_bundle.base_image = base_image
    return make_bundle


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
def no_containers_left() -> Iterator[Callable[[], list[str]]]:
    """Fails when a test leaves a container of ours behind."""
    import docker

    def ours() -> list[str]:
        found = docker.from_env().containers.list(all=True, filters={"label": "clusterbridge.run"})
        return [str(container.name) for container in found]

    before = set(ours())
    yield ours
    assert set(ours()) <= before
