"""What is written when a job ends, however it ended: artifacts, metrics, the record."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from jupyter_clusterbridge.model.canonical import pretty_json
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.errors import ClusterBridgeError, JournalUnreadable
from jupyter_clusterbridge.model.events import ArtifactDeclared, Event, MetricLogged
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.artifacts import collect_artifacts
from jupyter_clusterbridge.runtime.exits import End
from jupyter_clusterbridge.runtime.job import Job
from jupyter_clusterbridge.runtime.journal import Journal, read_journal
from jupyter_clusterbridge.runtime.kernel import JOURNAL_FILE
from jupyter_clusterbridge.runtime.notebook import EXECUTED_FILE
from jupyter_clusterbridge.runtime.prelude import STACKS_FILE
from jupyter_clusterbridge.runtime.record import build_record

METRICS_FILE = "metrics.json"
METRICS_SCHEMA = "clusterbridge/metrics/1"


def close_run(job: Job, work: Path | None, end: End, log: Callable[[str], None]) -> End:
    """Write all that follows the last cell and return the end that counts.

    A job that seemed to succeed fails here when a declared artifact is missing or empty, or when what makes
    it comparable cannot be written. An end that is a failure already stays what it is.
    """
    journal = _journal(job, log)
    events: tuple[Event, ...] = () if journal is None else journal.events
    if work is not None:
        end = _artifacts(job, work, events, end, log)
    end = _attempt("its metrics could not be written", end, log, lambda: write_metrics(job.run_dir, events))
    if journal is not None and work is not None:
        end = _attempt("its record could not be written", end, log, lambda: _write_record(job, work, journal))
    stacks = job.run_dir / STACKS_FILE
    if stacks.exists() and not stacks.stat().st_size:
        stacks.unlink()
    return end


def write_metrics(run_dir: Path, events: tuple[Event, ...]) -> None:
    """Write ``metrics.json`` from a journal's events.

    Raises:
        DiskFull, FolderNotWritable: the file system refuses.
    """
    metrics = [
        {"name": event.name, "value": to_json(event.value), "step": event.step}
        for event in events
        if isinstance(event, MetricLogged)
    ]
    write_atomic(run_dir / METRICS_FILE, pretty_json({"schema": METRICS_SCHEMA, "metrics": metrics}))


def _journal(job: Job, log: Callable[[str], None]) -> Journal | None:
    path = job.record_dir / JOURNAL_FILE
    if not path.exists():
        return None
    try:
        return read_journal(path)
    except JournalUnreadable as error:
        log(f"no record: {error}")
        return None


def _artifacts(job: Job, work: Path, events: tuple[Event, ...], end: End, log: Callable[[str], None]) -> End:
    declared = list(job.manifest.artifacts) if job.manifest is not None else []
    declared += [event.path for event in events if isinstance(event, ArtifactDeclared)]
    problems: list[str] = []

    def collect() -> None:
        may_link = job.workdir is None
        problems.extend(collect_artifacts(declared, work, job.run_dir, may_link=may_link))

    end = _attempt("its artifacts could not be copied", end, log, collect)
    for problem in problems:
        log(problem)
    if problems and end.code == JobExit.SUCCEEDED:
        return End(JobExit.ARTIFACT_MISSING, "; ".join(problems), step=end.step, cell_index=end.cell_index)
    return end


def _write_record(job: Job, work: Path, journal: Journal) -> None:
    manifest = job.manifest
    built = build_record(
        read_notebook(job.run_dir / EXECUTED_FILE),
        [journal],
        role=job.role,
        parameters={} if manifest is None else {entry.name: entry.value for entry in manifest.parameters},
        outputs=True,
        identity=None if manifest is None else manifest.identity,
        artifacts_root=work,
    )
    built.write(job.record_dir)


def _attempt(what: str, end: End, log: Callable[[str], None], action: Callable[[], None]) -> End:
    try:
        action()
    except ClusterBridgeError as error:
        said = str(error)
    except Exception as error:
        log(traceback.format_exc())
        said = f"{type(error).__name__}: {error}"
    else:
        return end
    log(f"the run has ended, but {what}: {said}")
    if end.code != JobExit.SUCCEEDED:
        return end
    return End(JobExit.INTERNAL, f"the notebook finished, but {what}: {said}", step=end.step)
