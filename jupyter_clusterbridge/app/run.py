"""Run a bundle on an engine and bring its run directory here."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from jupyter_clusterbridge.engines.base import Engine, RunHandle, RunOptions, guard_variables
from jupyter_clusterbridge.engines.registry import get_engine
from jupyter_clusterbridge.model.bundle import BUNDLE_FILE, BundleManifest
from jupyter_clusterbridge.model.errors import EngineUnavailable, FolderNotWritable
from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.model.resources import Resources
from jupyter_clusterbridge.model.run import RunStatus
from jupyter_clusterbridge.runtime.bundle import read_bundle
from jupyter_clusterbridge.runtime.status import finish_killed

_LOG_PATIENCE_S = 5.0

Progress = Callable[[str], None]


def _quiet(_text: str) -> None:
    return None


@dataclass(frozen=True)
class RunRequest:
    """What to run, where, and within which limits."""

    bundle: Path
    engine: str = "local"
    out: Path | None = None
    """The run directory; None makes the next one of ``<bundle>-runs/``."""
    resources: Resources = field(default_factory=Resources)
    """Limits of this run; those of the bundle hold where this one says None."""
    data_dir: Path | None = None


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    run_dir: Path
    status: RunStatus


def run_bundle(request: RunRequest, progress: Progress = _quiet) -> RunResult:
    """Run a bundle to its end, whatever that end is.

    SIGINT and SIGTERM cancel the job and wait for its status; a second one ends it at once.

    Raises:
        BundleInvalid, BundleModified, DocumentTooNew: the bundle cannot be trusted.
        EngineUnavailable, RegistryRefused, EnvironmentFailed: the engine cannot run it; where it is lost while
            the job runs, the run directory's status says so.
        FolderNotWritable, DiskFull: the run directory cannot be made or is in use.
    """
    bundle = Path(os.path.abspath(request.bundle))
    manifest = read_bundle(bundle)
    engine = get_engine(request.engine)
    info = engine.availability()
    if not info.usable:
        raise EngineUnavailable(f"the engine {engine.name!r} cannot be used here: {info.reason}")
    with _claimed(bundle, request.out) as run_dir:
        plan = engine.render(manifest, bundle, _options(request, manifest, run_dir))
        for note in plan.notes:
            progress(note)
        with _Signals() as signals:
            engine.prepare(plan, progress)
            signals.hold()
            handle = engine.submit(plan)
            signals.pass_on(lambda force: engine.cancel(handle, force=force))
            status = _see_through(engine, handle, progress)
    return RunResult(run_dir, status)


def _options(request: RunRequest, manifest: BundleManifest, run_dir: Path) -> RunOptions:
    given = {name: value for name, value in vars(request.resources).items() if value is not None}
    data_dir = Path(os.path.abspath(request.data_dir)) if request.data_dir is not None else None
    if data_dir is not None and not data_dir.is_dir():
        raise FolderNotWritable(
            f"{data_dir}: is no folder of data", hint="Name an existing folder with --data-dir."
        )
    name = re.sub(r"[^a-z0-9]+", "-", manifest.name.lower()).strip("-")[:30] or "notebook"
    return RunOptions(
        run_dir=run_dir,
        run_id=f"{name}-{secrets.token_hex(4)}",
        resources=dataclasses.replace(manifest.resources, **given),
        data_dir=data_dir,
        variables=guard_variables(),
    )


def _see_through(engine: Engine, handle: RunHandle, progress: Progress) -> RunStatus:
    reader = threading.Thread(target=_stream, args=(engine, handle, progress), daemon=True)
    reader.start()
    try:
        status = engine.wait(handle)
    except EngineUnavailable as error:
        # nobody can ask any more; a job that lives on writes its own end over this one
        reason = f"the engine was lost while the job ran, and what became of the job is not known: {error.message}"
        finish_killed(handle.run_dir, reason=reason, exit_code=error.exit_code)
        raise
    finally:
        # the log's end is read before the engine lets go of it
        reader.join(_LOG_PATIENCE_S)
        engine.fetch(handle)
    return status


def _stream(engine: Engine, handle: RunHandle, progress: Progress) -> None:
    try:
        for line in engine.logs(handle):
            progress(line)
    except Exception as error:  # the log is for reading along; the status is the truth
        progress(f"the log cannot be followed any further: {error}")


class _Signals:
    """SIGINT and SIGTERM while a run is seen through, in the main thread.

    First they interrupt; after :meth:`hold` they wait; after :meth:`pass_on` they cancel the job.
    """

    def __init__(self) -> None:
        self._act: Callable[[bool], None] | None = None
        self._held = False
        self._asked = 0
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_exception: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]

    def hold(self) -> None:
        """From now on a signal must not leave a started job behind."""
        self._held = True

    def pass_on(self, act: Callable[[bool], None]) -> None:
        """From now on a signal calls ``act(False)``, every later one ``act(True)``."""
        self._act = act
        if self._asked:
            act(False)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if not self._held:
            raise KeyboardInterrupt
        self._asked += 1
        if self._act is not None:
            # in a thread of its own: an engine's client may hold a lock that the interrupted code holds
            threading.Thread(target=self._act, args=(self._asked > 1,), daemon=True).start()


@contextlib.contextmanager
def _claimed(bundle: Path, out: Path | None) -> Iterator[Path]:
    """Make the run directory; it goes again when nothing was started in it."""
    run_dir, made = _next_folder(bundle) if out is None else _given_folder(bundle, Path(os.path.abspath(out)))
    try:
        yield run_dir
    except BaseException:
        if not (run_dir / "status.json").exists():
            _remove(run_dir, made, bundle)
        raise


def _remove(run_dir: Path, made: bool, bundle: Path) -> None:
    if made:
        shutil.rmtree(run_dir, ignore_errors=True)
    if run_dir.parent == _runs_folder(bundle):
        with contextlib.suppress(OSError):  # other runs are in it
            run_dir.parent.rmdir()


def _runs_folder(bundle: Path) -> Path:
    return bundle.with_name(bundle.name + "-runs")


def _next_folder(bundle: Path) -> tuple[Path, bool]:
    parent = _runs_folder(bundle)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(item.name) for item in parent.iterdir() if item.name.isdigit()), default=0)
        while True:
            try:
                (parent / str(number)).mkdir()
                return parent / str(number), True
            except FileExistsError:  # another run took the number just now
                number += 1
    except OSError as error:
        raise explain_os_error(error, parent) from None


def _given_folder(bundle: Path, out: Path) -> tuple[Path, bool]:
    if out == bundle or bundle in out.parents or (out / BUNDLE_FILE).exists():
        raise FolderNotWritable(f"{out}: a run directory cannot lie in a bundle")
    try:
        if out.is_dir() and not any(out.iterdir()):
            return out, False
        if out.exists():
            raise FolderNotWritable(f"{out}: exists and is not empty; a run never overwrites another")
        out.mkdir(parents=True)
    except OSError as error:
        raise explain_os_error(error, out) from None
    return out, True
