"""Use case: export a notebook as a bundle."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.app.baseline import clean_replay
from jupyter_clusterbridge.app.lint import findings_of
from jupyter_clusterbridge.export.baseline import Baseline
from jupyter_clusterbridge.export.bundle import BundleInput, write_bundle
from jupyter_clusterbridge.export.notebook import read_raw
from jupyter_clusterbridge.export.parameters import apply_values, read_parameters
from jupyter_clusterbridge.export.project import ProjectFinder
from jupyter_clusterbridge.export.target import check_engines, check_target
from jupyter_clusterbridge.export.unattended import check_unattended
from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import KernelNotFound
from jupyter_clusterbridge.model.events import EnvironmentSeen
from jupyter_clusterbridge.model.findings import Finding, Severity
from jupyter_clusterbridge.model.lock import BaseImage
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.state import CellState, CheckReport
from jupyter_clusterbridge.pin.image import resolve_base_image
from jupyter_clusterbridge.pin.kernels import kernel_python
from jupyter_clusterbridge.pin.observe import observe_python
from jupyter_clusterbridge.pin.resolve import ResolvedLock, resolve
from jupyter_clusterbridge.recorder.check import check_notebook, unreachable_reasons
from jupyter_clusterbridge.runtime.journal import Journal, read_journals
from jupyter_clusterbridge.runtime.record import build_record, read_record

Progress = Callable[[str], None]

_NO_JOURNAL = (
    "No session was recorded (the extension was not loaded), so there is no baseline: a comparison with a run of "
    "this bundle cannot tell whether it is the same model."
)
_NOT_LIVE = (
    "The environment was read from the interpreter, not from a live session: what the notebook loads beyond the "
    "imports in its text, its thread counts and its framework flags are not known."
)
_NO_DATA = (
    "Data files are those that the text of the notebook names; files that it finds otherwise are not declared."
)


def _quiet(_text: str) -> None:
    return None


@dataclass(frozen=True)
class ExportRequest:
    """What to export, where to, and how."""

    notebook: Path
    output: Path
    engines: tuple[str, ...] = ()
    """Engines to write files for; every bundle runs on ``local`` and ``docker``."""
    base_image: str | None = None
    scope: str = "used"
    """``used`` locks the closure of what the kernel loaded, ``all`` everything installed."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    platform: str = "linux/amd64"
    python: Path | None = None
    """Interpreter whose environment is locked; None for that of the session or the notebook's kernel."""
    resources: Resources = field(default_factory=Resources)


@dataclass(frozen=True)
class ExportResult:
    """What was written, and what a person should know about it."""

    folder: Path
    manifest: BundleManifest
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]


def export_notebook(request: ExportRequest, progress: Progress = _quiet) -> ExportResult:
    """Write a notebook's bundle.

    What a person can fix in the notebook (an install in a cell, an unseeded stream) does not stop the export; it
    is in the findings. A cell that is no Python, so that no job can get past it, does.

    Raises:
        ClusterBridgeError: any of those that :mod:`model.errors` lists for reading, locking and writing.
    """
    engines = check_engines(request.engines)
    notebook, raw = read_raw(request.notebook)
    parameters = apply_values(notebook, request.parameters)
    check_unattended(notebook)
    check_target(request.output)
    journals = read_journals(notebook.path)
    findings = findings_of(notebook)
    report = check_notebook(notebook, journals, request.notebook.absolute().parent)
    with tempfile.TemporaryDirectory(prefix="clusterbridge-") as scratch:
        evidence = _evidence(notebook, journals, report, Path(scratch))
        resolved, image, unknown = _lock(request, notebook, evidence.environment, progress)
        progress("Writing the bundle")
        written = write_bundle(
            BundleInput(
                notebook=notebook,
                raw=raw,
                lock=resolved,
                # why there is no digest depends on the network of the moment, and the bundle must not
                base_image=dataclasses.replace(image, reason=None),
                parameters=parameters,
                baseline=evidence.baseline,
                journals=evidence.journals,
                engines=engines,
                resources=request.resources,
                unknown=unknown if evidence.baseline is not None else (_NO_JOURNAL, _NO_DATA, *unknown),
            ),
            request.output,
        )
    manifest = written.manifest
    warnings = (*_warnings(notebook, image, manifest, findings, report), *written.warnings)
    return ExportResult(written.folder, manifest, findings, tuple(dict.fromkeys(warnings)))


def _lock(
    request: ExportRequest, notebook: Notebook, live: Environment | None, progress: Progress
) -> tuple[ResolvedLock, BaseImage, tuple[str, ...]]:
    """Lock the session's environment, else that of an interpreter.

    Returns:
        The lock, the base image, and what is not known about the environment.
    """
    unknown: tuple[str, ...] = ()
    if request.python is None and live is not None:
        python, environment = _interpreter(notebook), live
    else:
        python = _named(request.python) if request.python is not None else kernel_python(notebook.kernel_name)
        progress("Looking at the kernel's interpreter")
        environment, unknown = observe_python(python, ProjectFinder(notebook).find().modules), (_NOT_LIVE,)
    progress("Locking the environment")
    with ThreadPoolExecutor(1) as pool:
        # a registry may take seconds to answer, or not to
        image = pool.submit(resolve_base_image, request.base_image, environment.python)
        resolved = resolve(
            environment,
            scope=request.scope,
            platform=request.platform,
            imports=(),  # both ways of observing say what is loaded, also where that is nothing
            python=python,
            progress=progress,
        )
        return resolved, image.result(), unknown


def _named(python: Path) -> Path:
    """The interpreter that a person names: a path from where they are, or a command as a shell finds it.

    Links are kept, as it is a link that makes a virtual environment's interpreter its own.
    """
    command = shutil.which(python) if python.name == str(python) else None
    return Path(os.path.abspath(command or python.expanduser()))


def _interpreter(notebook: Notebook) -> Path | None:
    """The interpreter of a recorded session, as far as the kernel's name tells; it may be on no disk any more."""
    try:
        return kernel_python(notebook.kernel_name)
    except KernelNotFound:
        return None


@dataclass(frozen=True)
class _Evidence:
    """What is known of the notebook's own run."""

    baseline: Baseline | None
    journals: tuple[Journal, ...]
    """Those of the sessions, and the replay's where that is the baseline."""
    environment: Environment | None


def _evidence(notebook: Notebook, journals: tuple[Journal, ...], report: CheckReport, scratch: Path) -> _Evidence:
    """The clean replay where there is a current one, else the recorded session; what was seen in either."""
    replay = clean_replay(notebook, journals)
    if replay is not None:
        baseline = Baseline(replay.record, replay.steps)
        seen = _session_environment(journals) or replay.record.environment
        return _Evidence(baseline, (*journals, replay.journal), seen)
    values = {parameter.name: parameter.default for parameter in read_parameters(notebook)}
    folder = notebook.path.parent
    built = build_record(
        notebook, journals, role="notebook", parameters=values, outputs=True, artifacts_root=folder
    )
    if not any(cell.runs for cell in built.record.cells):
        return _Evidence(None, journals, built.record.environment)
    built.write(scratch)
    record, steps = read_record(scratch)
    record = dataclasses.replace(
        _as_if_done(record, notebook), interventions=report.interventions, unreachable=unreachable_reasons(report)
    )
    return _Evidence(Baseline(record, steps), journals, built.record.environment)


def _session_environment(journals: tuple[Journal, ...]) -> Environment | None:
    seen = [event.environment for one in journals for event in one.events if isinstance(event, EnvironmentSeen)]
    return seen[-1] if seen else None


def _as_if_done(record: RunRecord, notebook: Notebook) -> RunRecord:
    """The cell that exports is still running while its journal is read; in a job it just ends."""
    exporting = {cell.index for cell in notebook.code_cells if "%clusterbridge" in cell.source}
    cells = tuple(
        dataclasses.replace(cell, status="ok", rng_after=cell.rng_before)
        if cell.status == "interrupted" and cell.cell_index in exporting and not cell.rng_after
        else cell
        for cell in record.cells
    )
    return dataclasses.replace(record, cells=cells)


def _warnings(
    notebook: Notebook,
    image: BaseImage,
    manifest: BundleManifest,
    findings: tuple[Finding, ...],
    report: CheckReport,
) -> list[str]:
    """What a person should read first, before the findings."""
    warnings = [*manifest.lock.warnings]
    if image.floating:
        warnings.append(
            f"The base image {image.ref} has no digest ({image.reason}), so it may be another one tomorrow. "
            "Name one that a registry or the local engine has with --base-image."
        )
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    warnings.extend(f"cell {finding.cell_index}: {finding.message} {finding.remedy}" for finding in errors)
    edited = [cell for cell in report.cells if cell.state is CellState.EDITED] if report.recorded else []
    warnings.extend(
        f"cell {cell.cell_index} of {notebook.path.name} is saved with another source than the one that ran last; "
        "the bundle has the saved one."
        for cell in edited
    )
    return warnings
