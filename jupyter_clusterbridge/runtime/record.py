"""From journals to a run record, and reading one back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.canonical import digest_text, pretty_json
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import DocumentInvalid, RunInvalid
from jupyter_clusterbridge.model.events import (
    ArtifactDeclared,
    EnvironmentSeen,
    FileRead,
    FileWrite,
    Listing,
    MetricLogged,
)
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.notebook import Cell, Notebook
from jupyter_clusterbridge.model.record import (
    RECORD_FILE,
    STEPS_FILE,
    ArtifactRecord,
    CellRecord,
    FileRecord,
    ListingRecord,
    MetricRecord,
    RunRecord,
)
from jupyter_clusterbridge.runtime.artifact_record import artifact_record
from jupyter_clusterbridge.runtime.journal import Journal
from jupyter_clusterbridge.runtime.kept_runs import KeptRun, keep_runs
from jupyter_clusterbridge.runtime.outputs import output_digest
from jupyter_clusterbridge.runtime.record_rows import RecordRows, RowSource
from jupyter_clusterbridge.runtime.source import parse_cell

_OUR_EXTENSIONS = {"clusterbridge", "jupyter_clusterbridge"}


@dataclass(frozen=True)
class BuiltRecord:
    """A run record with its dense evidence, ready to be written."""

    record: RunRecord
    rows: RecordRows

    def write(self, folder: Path) -> None:
        """Write ``record.json`` and, when there are rows, ``steps.bin``; the same input gives the same bytes.

        Raises:
            DiskFull, FolderNotWritable: the file system refuses; an old record stays as it was.
        """
        steps = folder / STEPS_FILE
        if self.rows.rows:
            self.rows.write(steps)
        elif steps.exists():
            steps.unlink()
        write_atomic(folder / RECORD_FILE, pretty_json(to_json(self.record)))


def build_record(
    notebook: Notebook,
    journals: Sequence[Journal],
    *,
    role: str,
    parameters: Mapping[str, bool | int | float | str | None] | None = None,
    outputs: bool,
    identity: Identity | None = None,
    artifacts_root: Path | None = None,
) -> BuiltRecord:
    """Build the record of what the journals say about a notebook.

    For each cell its last run counts, in the newest kernel that ran it. Interventions and reasons why the state
    is unreachable are left empty; who knows them adds them to ``record``.

    Args:
        notebook: the file; gives cells, their order and, with ``outputs``, their saved outputs.
        journals: of this notebook, in any order.
        role: ``notebook``, ``job`` or ``baseline``.
        parameters: values of the tagged parameters in this run.
        outputs: whether the notebook's saved outputs are those of the recorded runs.
        identity: of the bundle that ran.
        artifacts_root: folder in which declared artifacts are looked for; None to name them only.

    Raises:
        DocumentInvalid: a steps file is not one of this version.
    """
    kept = keep_runs(notebook, journals)
    runs = list(kept.values())
    rows = RecordRows(
        [RowSource(run.journal.steps_path, run.kernel, run.start.run, run.cell.index) for run in runs]
    )
    record = RunRecord(
        role=role,
        cells=tuple(_cell(cell, kept.get(cell.index), outputs) for cell in notebook.code_cells),
        environment=_environment(journals),
        parameters=dict(parameters or {}),
        files=_files(runs),
        listings=_listings(runs),
        metrics=_metrics(runs),
        artifacts=_artifacts(runs, artifacts_root),
        steps=rows.steps,
        step_rows=rows.rows,
        identity=identity,
    )
    return BuiltRecord(record, rows)


def read_record(folder: Path) -> tuple[RunRecord, Path | None]:
    """Read a record and say where its steps file lies, None when there is none.

    Raises:
        RunInvalid: there is no record, or it cannot be read.
        DocumentTooNew: a newer version wrote it.
    """
    path = folder / RECORD_FILE
    try:
        record = from_json(RunRecord, json.loads(path.read_bytes()), path.name)
    except OSError as error:
        raise RunInvalid(f"{folder}: holds no run record ({error.strerror})") from None
    except (ValueError, DocumentInvalid) as error:
        raise RunInvalid(f"{path}: is no run record ({error})") from None
    steps = folder / STEPS_FILE
    if steps.exists():
        return record, steps
    if record.step_rows:
        raise RunInvalid(
            f"{folder}: the record names {record.step_rows} rows of evidence, and {STEPS_FILE} is missing"
        )
    return record, None


def _row_source(run: KeptRun) -> RowSource:
    return RowSource(run.journal.steps_path, run.kernel, run.start.run, run.cell.index)


def _cell(cell: Cell, run: KeptRun | None, outputs: bool) -> CellRecord:
    if run is None:
        return CellRecord(cell.id, cell.index, digest_text(cell.source), runs=0, status=None)
    end = run.end
    return CellRecord(
        cell_id=cell.id,
        cell_index=cell.index,
        source_digest=digest_text(run.start.source),
        runs=run.runs,
        status=end.status if end is not None else "interrupted",
        duration_s=end.duration_s if end is not None else None,
        rng_before=run.start.rng,
        rng_after=end.rng if end is not None else {},
        output_digest=output_digest(cell.outputs) if outputs and not _speaks_for_us(cell.source) else None,
    )


def _speaks_for_us(source: str) -> bool:
    """Whether a cell's output is ours, as that of ``%clusterbridge status``: a job says something else there."""
    for magic in parse_cell(source).magics:
        if magic.name == "clusterbridge":
            return True
        if magic.name in ("load_ext", "reload_ext", "unload_ext") and magic.body.strip() in _OUR_EXTENSIONS:
            return True
    return False


def _environment(journals: Sequence[Journal]) -> Environment | None:
    found = None
    for journal in sorted(journals, key=lambda one: one.start.at):
        for event in journal.events:
            if isinstance(event, EnvironmentSeen):
                found = event.environment
    return found


def _files(runs: Sequence[KeptRun]) -> tuple[FileRecord, ...]:
    """Files read, each once, without those that an earlier cell of the file writes itself."""
    files: dict[str, FileRecord] = {}
    written: set[str] = set()
    for run in runs:
        for event in run.events:
            if isinstance(event, FileRead) and not event.own and event.path not in written:
                record = FileRecord(event.path, event.size, event.digest, run.cell.index)
                files.setdefault(event.path, record)
        written.update(event.path for event in run.events if isinstance(event, FileWrite))
    return tuple(files.values())


def _listings(runs: Sequence[KeptRun]) -> tuple[ListingRecord, ...]:
    found: dict[str, ListingRecord] = {}
    for run in runs:
        for event in run.events:
            if isinstance(event, Listing):
                record = ListingRecord(
                    event.path, event.count, event.order_digest, event.set_digest, run.cell.index
                )
                found.setdefault(event.path, record)
    return tuple(found.values())


def _metrics(runs: Sequence[KeptRun]) -> tuple[MetricRecord, ...]:
    return tuple(
        MetricRecord(event.name, event.value, event.step, run.cell.index)
        for run in runs
        for event in run.events
        if isinstance(event, MetricLogged)
    )


def _artifacts(runs: Sequence[KeptRun], root: Path | None) -> tuple[ArtifactRecord, ...]:
    paths = dict.fromkeys(
        event.path for run in runs for event in run.events if isinstance(event, ArtifactDeclared)
    )
    return tuple(artifact_record(path, root) for path in paths)
