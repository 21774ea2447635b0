"""The five digests of a bundle."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_clusterbridge.export.runtime_wheel import NAME as RUNTIME_NAME
from jupyter_clusterbridge.model.bundle import Parameter, ParameterValue
from jupyter_clusterbridge.model.canonical import digest_json
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.errors import DocumentInvalid
from jupyter_clusterbridge.model.evidence import MAGIC, ROW, RowKind
from jupyter_clusterbridge.model.lock import BaseImage, Lock
from jupyter_clusterbridge.model.record import FileRecord, ListingRecord, RunRecord


def code_digest(cells: Sequence[str], values: Mapping[str, ParameterValue], project: Mapping[str, str]) -> str:
    """Digest of what the job executes.

    Args:
        cells: digests of the code cells' normalised sources, in order.
        values: parameter values by name.
        project: digests of the shipped modules and scripts by path.
    """
    # repr tells 1 from 1.0 and True, which JSON readers may not
    return digest_json(
        {"cells": list(cells), "values": {k: repr(v) for k, v in values.items()}, "project": project}
    )


def env_digest(lock: Lock, image: BaseImage) -> str:
    """Digest of the locked environment: versions, and the files where no index vouches for a version.

    The runtime of ClusterBridge is left out, as it changes no number and its upgrade makes no other model; so are
    the hashes of index files, as an index adds files to a version later.
    """
    packages = [
        [package.name, package.version, sorted(file.sha256 for file in package.files if file.shipped)]
        for package in lock.packages
        if package.name != RUNTIME_NAME
    ]
    return digest_json(
        {
            "python": lock.python,
            "platform": lock.platform,
            "packages": sorted(packages, key=str),
            "variables": to_json(lock.variables),
            "image": image.digest or image.ref,
        }
    )


def data_digest(files: Sequence[FileRecord]) -> str:
    """Digest of the declared data files."""
    return digest_json(sorted([file.path, file.digest] for file in files))


def order_digest(listings: Sequence[ListingRecord], steps: Path | None) -> str:
    """Digest of the order in which folders were listed and samples drawn."""
    listed = sorted([listing.path, listing.order_digest] for listing in listings)
    return digest_json({"listings": listed, "indices": _index_digest(steps)})


def seeds_digest(record: RunRecord | None, calls: Sequence[str], lock: Lock) -> str:
    """Digest of what fixes the random streams: their states around each cell, seeding calls, the hash seed."""
    cells = record.cells if record is not None else ()
    states = [[dict(cell.rng_before), dict(cell.rng_after)] for cell in cells]
    return digest_json(
        {"states": states, "calls": list(calls), "hash_seed": lock.variables.get("PYTHONHASHSEED")},
    )


def parameter_values(parameters: Sequence[Parameter], *, defaults: bool = False) -> dict[str, ParameterValue]:
    """Parameter values by name: those of the job, or the defaults, which the recorded session had."""
    return {parameter.name: parameter.default if defaults else parameter.value for parameter in parameters}


def _index_digest(steps: Path | None) -> str | None:
    if steps is None:
        return None
    state = hashlib.sha256()
    batch = int(RowKind.BATCH)
    with steps.open("rb") as handle:
        if handle.read(len(MAGIC)) != MAGIC:
            raise DocumentInvalid(f"{steps.name}: not a steps file of this version")
        while chunk := handle.read(ROW.size * 65536):
            whole = len(chunk) - len(chunk) % ROW.size
            rows = ROW.iter_unpack(chunk[:whole])
            state.update(b"".join(a.to_bytes(8, "little") for kind, _, _, a, _ in rows if kind == batch))
    return state.hexdigest()
