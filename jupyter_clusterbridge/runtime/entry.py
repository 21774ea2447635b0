"""The supervisor's command line: arguments in, run directory prepared, status and exit code out."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from jupyter_clusterbridge.model.errors import ClusterBridgeError, FolderNotWritable, RunInvalid
from jupyter_clusterbridge.model.files import explain_os_error
from jupyter_clusterbridge.model.resources import parse_duration
from jupyter_clusterbridge.model.run import JobExit, RunState
from jupyter_clusterbridge.runtime.artifacts import ARTIFACTS_FOLDER
from jupyter_clusterbridge.runtime.closing import METRICS_FILE
from jupyter_clusterbridge.runtime.exits import End
from jupyter_clusterbridge.runtime.guarding import GUARDS_FILE
from jupyter_clusterbridge.runtime.job import DEFAULT_GRACE_S, RECORD_FOLDER, Job, bundle_job, notebook_job
from jupyter_clusterbridge.runtime.notebook import EXECUTED_FILE
from jupyter_clusterbridge.runtime.prelude import STACKS_FILE
from jupyter_clusterbridge.runtime.status import mark_supervisor, read_status, write_status
from jupyter_clusterbridge.runtime.supervisor import Supervisor
from jupyter_clusterbridge.runtime.watch import running_status

LOG_FILE = "supervisor.log"


class Log:
    """Lines for ``supervisor.log`` and for standard error, tracebacks for the log alone; never fails."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, text: str) -> None:
        """Write one line, or a text of several for the log alone."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8", errors="replace") as sink:
            sink.write(f"{now} {text}\n")
        if "\n" not in text:
            say(f"clusterbridge: {text}")


def say(text: str) -> None:
    """Write one line to standard error; never fails."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str], early_signals: Sequence[int] = ()) -> int:
    """Run the command line; returns the process's exit code.

    Args:
        arguments: the command line without the program's name.
        early_signals: signals that came before this function could be called.
    """
    options = _parser().parse_args(arguments)
    run_dir: Path = options.run_dir
    try:
        _prepare_run_dir(run_dir)
    except ClusterBridgeError as error:
        return _refuse(error)
    log = Log(run_dir / LOG_FILE)
    try:
        end = _run(options, log, early_signals)
    except ClusterBridgeError as error:
        _refuse(error)
        end = End(error.exit_code, error.message)
    except Exception as error:
        log(traceback.format_exc())
        end = End(JobExit.INTERNAL, f"the supervisor failed ({type(error).__name__}: {error}); see {LOG_FILE}")
    return _finish(run_dir, end, log)


def _run(options: argparse.Namespace, log: Callable[[str], None], early_signals: Sequence[int]) -> End:
    job = _job(options)
    supervisor = Supervisor(job, log)

    async def run() -> End:
        running = asyncio.ensure_future(supervisor.run())
        await asyncio.sleep(0)
        for number in early_signals[:1]:
            os.kill(os.getpid(), number)
        return await running

    return asyncio.run(run())


def _finish(run_dir: Path, end: End, log: Callable[[str], None]) -> int:
    try:
        write_status(run_dir, end.status())
    except ClusterBridgeError as error:
        _refuse(error)
        return int(end.code) or int(JobExit.INTERNAL)
    log(f"{end.state.value}: {end.reason}")
    return int(end.code)


def _refuse(error: ClusterBridgeError) -> int:
    say(f"clusterbridge: {error.message}")
    if error.next_step:
        say(f"clusterbridge: {error.next_step}")
    return error.exit_code


def _prepare_run_dir(run_dir: Path) -> None:
    """Make the folder ours and put the status of a running job in it.

    Raises:
        FolderNotWritable: it cannot be written, or a job runs in it now.
        DiskFull: no space is left.
    """
    with contextlib.suppress(RunInvalid):
        if read_status(run_dir).state is RunState.RUNNING:
            raise FolderNotWritable(f"{run_dir}: a job is running in this folder", "Name another run directory.")
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        for name in (RECORD_FOLDER, ARTIFACTS_FOLDER, "work"):
            if (run_dir / name).is_dir():
                shutil.rmtree(run_dir / name)
        for name in (EXECUTED_FILE, METRICS_FILE, GUARDS_FILE, STACKS_FILE, LOG_FILE):
            (run_dir / name).unlink(missing_ok=True)
        for half_written in run_dir.glob(f".{EXECUTED_FILE}.*"):
            half_written.unlink(missing_ok=True)
        (run_dir / RECORD_FOLDER).mkdir()
        (run_dir / GUARDS_FILE).touch()
    except OSError as error:
        raise explain_os_error(error, run_dir) from None
    mark_supervisor(run_dir)
    write_status(run_dir, running_status(None, None))


def _job(options: argparse.Namespace) -> Job:
    if options.bundle is not None:
        return bundle_job(
            options.bundle,
            options.run_dir,
            data_dir=options.data_dir,
            time_limit_s=options.time_limit,
            grace_s=options.grace,
        )
    return notebook_job(
        options.notebook,
        options.run_dir,
        workdir=options.workdir or options.notebook.parent,
        role=options.role,
        time_limit_s=options.time_limit,
        grace_s=options.grace,
    )


def _parser() -> argparse.ArgumentParser:
    codes = "  ".join(f"{int(code)} {code.name.lower()}" for code in JobExit)
    parser = argparse.ArgumentParser(
        prog="python -m jupyter_clusterbridge.runtime",
        description="Run a bundle as a job, or replay a notebook in its own folder.",
        epilog=f"exit codes: {codes}; 10 to 29: the bundle, notebook or folder cannot be used.",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--bundle", type=Path, help="folder that an export wrote")
    source.add_argument("--notebook", type=Path, help="a notebook to replay without a bundle")
    parser.add_argument("--run-dir", type=Path, required=True, help="folder for all that the run leaves")
    parser.add_argument("--data-dir", type=Path, help="where declared data lies that the bundle does not hold")
    parser.add_argument("--workdir", type=Path, help="working folder of a replay (default: the notebook's folder)")
    parser.add_argument("--role", default="baseline", choices=["baseline", "job"], help="role of a replay")
    parser.add_argument("--time-limit", type=_seconds, help="stop after this time, for example 90s or 6h")
    parser.add_argument(
        "--grace", type=_seconds, default=DEFAULT_GRACE_S, help="time that the notebook gets to end (default: 30s)"
    )
    return parser


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except ClusterBridgeError as error:
        raise argparse.ArgumentTypeError(f"{error.message}. {error.next_step}") from None
