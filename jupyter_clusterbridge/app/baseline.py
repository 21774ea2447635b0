"""Use case: replay a notebook from top to bottom in its own environment, and make that run the baseline."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.export.runtime_wheel import REQUIRES, build_runtime_wheel
from jupyter_clusterbridge.model.canonical import digest_text
from jupyter_clusterbridge.model.errors import ClusterBridgeError, EnvironmentFailed
from jupyter_clusterbridge.model.events import CellEnd, CellStart
from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.model.notebook import Notebook, read_notebook
from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.run import RunState, RunStatus
from jupyter_clusterbridge.pin.kernels import kernel_python
from jupyter_clusterbridge.runtime.journal import Journal, journal_folder, read_journal
from jupyter_clusterbridge.runtime.record import read_record
from jupyter_clusterbridge.runtime.status import read_status

STATUS_FILE = "status.json"
BASELINE_RUN = "baseline"
"""Name of the replay's run directory in the folder of a notebook's journals."""
_RECORD = "record"
_JOURNAL = "journal.jsonl"
_PROBE = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n) is None])"
_MODULES = {"ipython": "IPython"}

Progress = Callable[[str], None]


def _quiet(_text: str) -> None:
    return None


@dataclass(frozen=True)
class BaselineResult:
    """A finished replay."""

    run_dir: Path
    status: RunStatus


@dataclass(frozen=True)
class CleanReplay:
    """A replay that may stand as the baseline."""

    record: RunRecord
    steps: Path | None
    journal: Journal


def record_baseline(path: Path, progress: Progress = _quiet) -> BaselineResult:
    """Replay a notebook in a fresh kernel of its own environment, in its own folder.

    The run directory is ``.clusterbridge/<stem>/baseline/``; an earlier one is replaced once the replay has ended.
    The notebook's file is not changed. A failed replay is a result too: its status says how it ended.

    Raises:
        KernelNotFound: the notebook's kernel is not installed.
        EnvironmentFailed: its interpreter lacks what a replay needs.
        FolderNotWritable, DiskFull: the file system refuses.
    """
    notebook = read_notebook(path)
    python = kernel_python(notebook.kernel_name)
    run_dir = journal_folder(notebook.path) / BASELINE_RUN
    with _runtime_for(python) as search, _in_place_of_earlier(run_dir):
        progress(f"Replaying {notebook.path.name} from top to bottom")
        _replay(python, notebook.path, run_dir, search, progress)
    status = read_status(run_dir)
    return BaselineResult(run_dir, status)


def clean_replay(notebook: Notebook, journals: tuple[Journal, ...]) -> CleanReplay | None:
    """The replay of a notebook, where it succeeded, is of the saved cells, and is newer than any recorded cell."""
    run_dir = journal_folder(notebook.path) / BASELINE_RUN
    try:
        if read_status(run_dir).state is not RunState.SUCCEEDED:
            return None
        record, steps = read_record(run_dir / _RECORD)
        journal = read_journal(run_dir / _RECORD / _JOURNAL)
    except ClusterBridgeError:
        return None
    replayed = {cell.cell_id: cell.source_digest for cell in record.cells}
    saved = {cell.id: digest_text(cell.source) for cell in notebook.code_cells}
    if replayed != saved or any(_last_cell(other) > _last_cell(journal) for other in journals):
        return None
    return CleanReplay(record, steps, journal)


def _last_cell(journal: Journal) -> float:
    """When the last cell of a journal began or ended, in seconds, by its events: a copy has other file times."""
    times = [event.at for event in journal.events if isinstance(event, (CellStart, CellEnd))]
    return max((datetime.datetime.fromisoformat(at).timestamp() for at in times), default=0.0)


def _replay(python: Path, notebook: Path, run_dir: Path, search: str | None, progress: Progress) -> None:
    command = [
        os.fspath(python), "-m", "jupyter_clusterbridge.runtime",
        "--notebook", os.path.abspath(notebook),
        "--run-dir", os.path.abspath(run_dir),
        "--role", "baseline",
        "--workdir", os.path.abspath(notebook.parent),
    ]  # fmt: skip
    environment = dict(os.environ)
    if search is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [search, environment.get("PYTHONPATH")]))
    try:
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        raise EnvironmentFailed(f"{python}: cannot be started ({error.strerror})") from None
    last = ""
    try:
        for line in process.stdout or ():
            last = line.strip() or last
            progress(line.rstrip("\n"))
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
    if not (run_dir / STATUS_FILE).exists():
        raise EnvironmentFailed(
            f"the replay could not start (exit code {process.returncode}): {last}",
            hint="Read the message; the notebook's own environment must be able to run a kernel.",
        )


@contextmanager
def _runtime_for(python: Path) -> Iterator[str | None]:
    """Where an interpreter that has no ClusterBridge finds its runtime; None when it has it.

    Raises:
        EnvironmentFailed: the interpreter cannot be started, or lacks a package that the runtime needs.
    """
    missing = _missing_modules(python, ["jupyter_clusterbridge", *(_MODULES.get(name, name) for name in REQUIRES)])
    needed = [name for name in missing if name != "jupyter_clusterbridge"]
    if needed:
        raise EnvironmentFailed(
            f"{python}: lacks {', '.join(needed)}, which a replay needs",
            hint=f"Install with: {python} -m pip install {' '.join(needed)}",
        )
    if not missing:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="clusterbridge-") as scratch:
        site = Path(scratch) / "site"
        with zipfile.ZipFile(build_runtime_wheel(Path(scratch))) as wheel:
            wheel.extractall(site)
        yield os.fspath(site)


def _missing_modules(python: Path, names: list[str]) -> list[str]:
    command = [os.fspath(python), "-c", _PROBE, *names]
    try:
        # in a neutral folder: the current one is on the path of `python -c`
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tempfile.gettempdir())
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"{python}: cannot be started ({error})") from None
    if done.returncode != 0:
        raise EnvironmentFailed(f"{python}: does not run ({done.stderr.strip()[-200:]})")
    return [name for name in names if repr(name) in done.stdout]


@contextmanager
def _in_place_of_earlier(run_dir: Path) -> Iterator[None]:
    """Make room for a run directory; the earlier one comes back when the block ends with an exception."""
    earlier = run_dir.with_name(f".{run_dir.name}.earlier")
    try:
        if run_dir.exists():
            shutil.rmtree(earlier, ignore_errors=True)
            os.replace(run_dir, earlier)
        run_dir.mkdir(parents=True)
    except OSError as error:
        raise explain_os_error(error, run_dir) from None
    try:
        yield
    except BaseException:
        shutil.rmtree(run_dir, ignore_errors=True)
        if earlier.exists():
            os.replace(earlier, run_dir)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
