"""Use case: compare a bundle's baseline or a run with a run."""

from __future__ import annotations

from pathlib import Path

from jupyter_clusterbridge.model.bundle import BASELINE_FOLDER, BUNDLE_FILE
from jupyter_clusterbridge.model.errors import RunInvalid
from jupyter_clusterbridge.model.record import RECORD_FILE
from jupyter_clusterbridge.model.verdict import Comparison
from jupyter_clusterbridge.runtime.bundle import read_bundle
from jupyter_clusterbridge.runtime.record import read_record
from jupyter_clusterbridge.runtime.status import read_status
from jupyter_clusterbridge.verdict.compare import Side, compare_sides

RECORD_FOLDER = "record"
STATUS_FILE = "status.json"


def compare_runs(baseline: Path, run: Path) -> Comparison:
    """Compare two folders; each is a run directory, and the first may be a bundle.

    Raises:
        RunInvalid: a folder is neither, or the second is a bundle.
        BundleModified, DocumentTooNew: the bundle cannot be trusted or read.
    """
    if (run / BUNDLE_FILE).is_file():
        raise RunInvalid(
            f"{run}: is a bundle, not a run of one",
            hint="Run it with 'clusterbridge run', then compare with the run directory that it leaves.",
        )
    return compare_sides(_side(baseline), _side(run))


def _side(folder: Path) -> Side:
    if (folder / BUNDLE_FILE).is_file():
        return _bundle_side(folder)
    if (folder / STATUS_FILE).is_file() or (folder / RECORD_FOLDER).is_dir():
        return _run_side(folder)
    what = "is neither a run directory nor a bundle" if folder.is_dir() else "there is no such folder"
    raise RunInvalid(f"{folder}: {what}")


def _bundle_side(folder: Path) -> Side:
    manifest = read_bundle(folder)
    if not manifest.has_baseline:
        return Side(None, identity=manifest.identity)
    record, steps = read_record(folder / BASELINE_FOLDER)
    # the job's values and files may be others than those of the recorded run, which has an identity of its own
    return Side(record, steps, None, record.identity or manifest.identity)


def _run_side(folder: Path) -> Side:
    status = read_status(folder) if (folder / STATUS_FILE).is_file() else None
    if not (folder / RECORD_FOLDER / RECORD_FILE).is_file():
        return Side(None, None, status)
    record, steps = read_record(folder / RECORD_FOLDER)
    return Side(record, steps, status, record.identity)
