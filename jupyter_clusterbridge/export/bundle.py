"""Writing a bundle: everything that a job needs and nothing that it does not."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.export import identity as digests
from jupyter_clusterbridge.export.baseline import Baseline, counted_for, write_baseline
from jupyter_clusterbridge.export.data import DataPlan, DataPlanner
from jupyter_clusterbridge.export.lockfiles import with_runtime
from jupyter_clusterbridge.export.notebook import JobNotebook, code_digests, job_notebook, strip_document
from jupyter_clusterbridge.export.parameters import injected_source
from jupyter_clusterbridge.export.private import without_private
from jupyter_clusterbridge.export.project import LocalFiles, ProjectFinder
from jupyter_clusterbridge.export.render import render_dockerfile, render_dockerignore, render_readme
from jupyter_clusterbridge.export.runtime_wheel import build_runtime_wheel
from jupyter_clusterbridge.export.target import check_target
from jupyter_clusterbridge.model.bundle import (
    BASELINE_FOLDER,
    BUNDLE_FILE,
    NOTEBOOK_FILE,
    PROJECT_FOLDER,
    PYLOCK_FILE,
    REQUIREMENTS_FILE,
    WHEELS_FOLDER,
    BundleManifest,
    Parameter,
)
from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.files import new_folder
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.lock import BaseImage
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.version import VERSION
from jupyter_clusterbridge.pin.resolve import ResolvedLock
from jupyter_clusterbridge.runtime.bundle import seal
from jupyter_clusterbridge.runtime.guarding import guard_policies
from jupyter_clusterbridge.runtime.journal import Journal


@dataclass(frozen=True)
class BundleInput:
    """All that a bundle is made of."""

    notebook: Notebook
    raw: dict[str, object]
    """The parsed notebook file."""
    lock: ResolvedLock
    """Our own runtime is not in it yet."""
    base_image: BaseImage
    parameters: tuple[Parameter, ...] = ()
    baseline: Baseline | None = None
    journals: tuple[Journal, ...] = ()
    engines: tuple[str, ...] = ()
    resources: Resources = field(default_factory=Resources)
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class WrittenBundle:
    """What was written."""

    folder: Path
    manifest: BundleManifest
    warnings: tuple[str, ...]


def write_bundle(parts: BundleInput, output: Path) -> WrittenBundle:
    """Write a bundle folder; an older bundle there is replaced as a whole, anything else is left alone.

    The same parts give the same bytes, whoever writes them and wherever.

    Raises:
        FolderNotWritable: the folder holds something else, or cannot be written.
        DiskFull: no space; nothing is left behind.
    """
    target = check_target(output)
    # given values go in here; the plan below wants the cells that the job will run
    job = job_notebook(parts.notebook, parts.raw, injected_source(parts.parameters))
    if parts.baseline is not None:
        parts = dataclasses.replace(parts, baseline=counted_for(parts.baseline, job.notebook))
    local = ProjectFinder(job.notebook).find()
    record = parts.baseline.record if parts.baseline is not None else None
    plan = DataPlanner(job.notebook, local, record, parts.journals).plan()
    with new_folder(target) as folder:
        manifest = _write_parts(parts, job, local, plan, folder)
    return WrittenBundle(target, manifest, tuple(plan.warnings))


def _write_parts(
    parts: BundleInput, job: JobNotebook, local: LocalFiles, plan: DataPlan, folder: Path
) -> BundleManifest:
    lock = _write_lock(parts, folder)
    _write(folder / NOTEBOOK_FILE, _notebook_bytes(job.document))
    project = _write_project(plan, folder)
    manifest = _manifest(parts, job, local, plan, lock, project)
    if parts.baseline is not None:
        record = without_private(parts.baseline.record, plan.may_name)
        record = dataclasses.replace(record, identity=_recorded_identity(parts, job, plan, project, manifest))
        write_baseline(parts.baseline, record, folder / BASELINE_FOLDER)
    _write(folder / "README.md", render_readme(manifest).encode())
    _write(folder / ".dockerignore", render_dockerignore().encode())
    entries = sorted(path.name + ("/" if path.is_dir() else "") for path in folder.iterdir())
    entries = sorted({*entries, BUNDLE_FILE, "Dockerfile"})
    _write(folder / "Dockerfile", render_dockerfile(manifest, entries).encode())
    sealed = seal(folder, manifest)
    _settle_modes(folder)
    return sealed


def _write_lock(parts: BundleInput, folder: Path) -> ResolvedLock:
    wheels = folder / WHEELS_FOLDER
    wheels.mkdir()
    for name, source in sorted(parts.lock.wheels.items()):
        shutil.copyfile(source, wheels / name)
    lock = with_runtime(parts.lock, build_runtime_wheel(wheels))
    _write(folder / PYLOCK_FILE, lock.pylock.encode())
    _write(folder / REQUIREMENTS_FILE, lock.requirements.encode())
    return lock


def _write_project(plan: DataPlan, folder: Path) -> dict[str, str]:
    """Copy the local files; returns their digests by path below the notebook's folder."""
    project = folder / PROJECT_FOLDER
    found: dict[str, str] = {}
    for path, source in sorted(plan.ship.items()):
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".ipynb"):
            _write(target, _notebook_bytes(strip_document(source)))
        else:
            shutil.copyfile(source, target)
        found[path] = digest_file(target)
    return found


def _manifest(
    parts: BundleInput,
    job: JobNotebook,
    local: LocalFiles,
    plan: DataPlan,
    lock: ResolvedLock,
    project: dict[str, str],
) -> BundleManifest:
    baseline = parts.baseline
    values = digests.parameter_values(parts.parameters)
    identity = Identity.of(
        code=_code(job, values, project, plan),
        env=digests.env_digest(lock.lock, parts.base_image),
        data=digests.data_digest(plan.declared),
        order=digests.order_digest(plan.listings, baseline.steps if baseline else None),
        seeds=digests.seeds_digest(baseline.record if baseline else None, local.seeds, lock.lock),
    )
    return BundleManifest(
        name=parts.notebook.path.stem,
        written_by=VERSION,
        identity=identity,
        lock=lock.lock,
        base_image=parts.base_image,
        parameters=parts.parameters,
        resources=parts.resources,
        guards=guard_policies({}, {}),
        data=tuple(plan.declared),
        listings=tuple(plan.listings),
        artifacts=_artifacts(local, baseline),
        engines=parts.engines,
        has_baseline=baseline is not None,
        unknown=parts.unknown,
    )


def _code(job: JobNotebook, values: Mapping[str, object], project: dict[str, str], plan: DataPlan) -> str:
    data = {file.path for file in plan.declared}
    code = {path: digest for path, digest in project.items() if path not in data}
    return digests.code_digest(code_digests(job.notebook), values, code)  # type: ignore[arg-type]


def _recorded_identity(
    parts: BundleInput, job: JobNotebook, plan: DataPlan, project: dict[str, str], manifest: BundleManifest
) -> Identity:
    """Identity of the recorded run: the default values, and files as it read them."""
    files = parts.baseline.record.files if parts.baseline is not None else ()
    # a notebook is shipped stripped, so that its digest is another one
    read = {file.path: file.digest for file in files if file.digest and not file.path.endswith(".ipynb")}
    values = digests.parameter_values(parts.parameters, defaults=True)
    modules = {path: read.get(path, digest) for path, digest in project.items()}
    data = [dataclasses.replace(file, digest=read.get(file.path, file.digest)) for file in plan.declared]
    job_side = manifest.identity
    return Identity.of(
        code=_code(job, values, modules, plan),
        env=job_side.env,
        data=digests.data_digest(data),
        order=job_side.order,
        seeds=job_side.seeds,
    )


def _artifacts(local: LocalFiles, baseline: Baseline | None) -> tuple[str, ...]:
    """Artifacts that the text or the session declared; those outside of the work folder cannot be fetched."""
    recorded = [artifact.path for artifact in baseline.record.artifacts] if baseline else []
    return tuple(sorted({os.path.normpath(path) for path in [*local.artifacts, *recorded]}))


def _notebook_bytes(document: dict[str, object]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _settle_modes(folder: Path) -> None:
    """Give all files and folders the same modes, whatever the umask and the sources' modes."""
    for path in folder.rglob("*"):
        os.chmod(path, 0o755 if path.is_dir() else 0o644)
