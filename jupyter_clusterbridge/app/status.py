"""Use case: what ClusterBridge knows of a live notebook, in the order of consequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.app.text import cell_lines, counted, finding_lines, intervention_lines
from jupyter_clusterbridge.model.canonical import digest_json, short
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.notebook import Notebook, read_notebook
from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.state import CheckReport
from jupyter_clusterbridge.runtime.journal import read_journals
from jupyter_clusterbridge.runtime.record import build_record


@dataclass(frozen=True)
class NotebookStatus:
    """The session so far."""

    notebook: Path
    record: RunRecord
    report: CheckReport
    digests: dict[str, str]
    """Digest by part of the identity: of what is in memory now, before any lock is made."""


def notebook_status(path: Path) -> NotebookStatus:
    """Read the journals and the saved file of a notebook.

    Raises:
        NotebookUnreadable, NotebookTooOld, NotPython: the saved file cannot be read.
        JournalUnreadable, DocumentTooNew: a journal cannot be read.
    """
    notebook = read_notebook(path)
    built = build_record(notebook, read_journals(path), role="notebook", outputs=False)
    report = check_notebook_file(path)
    return NotebookStatus(path, built.record, report, _digests(notebook, built.record))


def _digests(notebook: Notebook, record: RunRecord) -> dict[str, str]:
    """The five parts as they stand; ``export`` computes those of the locked job."""
    states = [[dict(cell.rng_before), dict(cell.rng_after)] for cell in record.cells]
    return {
        "code": digest_json([cell.source for cell in notebook.code_cells]),
        "env": digest_json(_loaded(record.environment)),
        "data": digest_json(sorted([file.path, file.digest] for file in record.files)),
        "order": digest_json(sorted([listing.path, listing.order_digest] for listing in record.listings)),
        "seeds": digest_json(states),
    }


def _loaded(environment: Environment | None) -> list[str]:
    if environment is None:
        return []
    packages = [f"{p.name}=={p.loaded_version or p.version}" for p in environment.distributions if p.loaded]
    return [environment.python, *packages]


def status_lines(status: NotebookStatus) -> Iterator[str]:
    """The status as short lines: identity, what was recorded and done by hand, what a cluster will not forgive."""
    record = status.record
    yield "identity  " + "  ".join(f"{name} {short(digest)}" for name, digest in status.digests.items())
    ran = sum(cell.runs > 0 for cell in record.cells)
    loaded = _loaded(record.environment)
    parts = [
        f"{ran} of {counted(len(record.cells), 'cell')}",
        counted(record.steps, "training step"),
        counted(len(record.metrics), "metric value"),
        counted(len(record.files), "data file"),
        f"{counted(max(len(loaded) - 1, 0), 'package')} in memory",
    ]
    yield f"recorded  {', '.join(parts)}"
    done = list(intervention_lines(status.report, harmless=False))
    if done:
        yield "What was done by hand and a job will not do, the gravest first:"
        yield from (f"  {line}" for line in done)
    yield "What a cluster will not forgive:"
    yield from (f"  {line}" for line in cell_lines(status.report, unsafe=False))
    yield from (f"  {line}" for line in finding_lines(status.report.findings))
