"""Why a cell diverged, in one sentence that names the location, the other cell and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.model.state import Reason
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.provenance import Version
from jupyter_clusterbridge.recorder.replay import CellHistory, Mismatch

UNSAFE = "running it again"
"""How the reason of a cell begins that is not safe to rerun."""
ACCUMULATES = "which accumulates"
PASSED_ON = "that had other inputs than in a clean run"
_FROM_TOP = "restart the kernel and run all cells from the top"
_KINDS = {"env": "the variable", "file": "the file"}


def describe(location: str) -> str:
    """A location in words.

    >>> describe("name:model"), describe("rng:numpy"), describe("env:SEED")
    ('`model`', 'the random stream `numpy`', 'the variable `SEED`')
    """
    kind, _, name = location.partition(":")
    if kind == "rng":
        return f"the random stream `{name}`"
    return f"{_KINDS[kind]} `{name}`" if kind in _KINDS else f"`{name}`"


def listed(locations: Sequence[str]) -> str:
    """Several locations in words, at most three of them by name."""
    names = [describe(location) for location in locations[:3]]
    if len(locations) > 3:
        names.append(f"{len(locations) - 3} more")
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def explain(cells: Sequence[Cell], history: CellHistory, mismatch: Mismatch, deleted: set[str]) -> Reason:
    """The reason for one mismatch."""
    kind, _, name = mismatch.location.partition(":")
    other, message = _cause(cells, history.position, mismatch, deleted)
    return Reason(kind, name, other, message)


def explain_missing(cells: Sequence[Cell], location: str, expected: Version) -> Reason:
    """The reason for a location that a failed run did not find."""
    kind, _, name = location.partition(":")
    what = describe(location)
    if expected.cell is None:
        return Reason(kind, name, None, f"{what} did not exist when this cell ran; {_FROM_TOP}")
    other = cells[expected.cell]
    message = f"{what} did not exist when this cell ran; run cell {other.index}, which makes it, then this cell"
    return Reason(kind, name, other.id, message)


def explain_unfinished(cell: Cell, status: str, mutates: bool) -> Reason:
    """The reason of a cell whose last run did not come to its end."""
    remedy = _FROM_TOP if mutates else "run it again"
    message = f"its last run {_ended(status)}, and a clean run goes on to the end; {remedy}"
    return Reason("cell", "run", cell.id, message)


def _cause(cells: Sequence[Cell], position: int, mismatch: Mismatch, deleted: set[str]) -> tuple[str | None, str]:
    what, actual, expected = describe(mismatch.location), mismatch.actual, mismatch.expected
    verb = "moved on" if mismatch.location.startswith("rng:") else "set"
    if actual.cell is None:
        lost = actual.run.cell_id if actual.run is not None else None
        gone = "was deleted" if lost in deleted else "is not in the saved file"
        return lost, f"{what} was {verb} by a cell that {gone}; put that code back, or {_FROM_TOP}"
    other = cells[actual.cell]
    where = f"cell {other.index}"
    if actual.cell == position and (expected is None or expected.cell != position):
        return other.id, _own(what, position, mismatch)
    if expected is None or expected.cell != actual.cell:
        side = "below" if actual.cell > position else "above"
        return other.id, f"{what} was {verb} by {where} {side}; {_instead(cells, expected)}; {_FROM_TOP}"
    return other.id, _same_producer(cells, what, where, actual, expected)


def _instead(cells: Sequence[Cell], expected: Version | None) -> str:
    if expected is None or expected.cell is None:
        return "a clean run would not have had it there"
    return f"a clean run takes it from cell {cells[expected.cell].index}"


def _own(what: str, position: int, mismatch: Mismatch) -> str:
    run = mismatch.actual.run
    if run is not None and not run.complete:
        return f"{what} had been changed by a run of this cell that {_ended(run.status)}; {_FROM_TOP}"
    times = _repeats(mismatch.actual)
    earlier = "an earlier run" if times == 1 else f"{times} earlier runs"
    return f"{what} had been changed by {earlier} of this cell, and a clean run changes it once; {_FROM_TOP}"


def _same_producer(cells: Sequence[Cell], what: str, where: str, actual: Version, expected: Version) -> str:
    assert actual.cell is not None
    run = actual.run
    if run is not None and run.key != analyse_cell(cells[actual.cell].source).key:
        return f"{what} came from {where} before it was edited; run {where} again, then this cell"
    if run is not None and not run.complete:
        return f"{what} was left by a run of {where} that {_ended(run.status)}; run {where} again, then this cell"
    times = _repeats(actual)
    if times > _repeats(expected):
        often = f"{what} was changed {times} times by {where}, {ACCUMULATES}"
        return f"{often}; a clean run changes it once; {_FROM_TOP}"
    return f"{what} came from a run of {where} {PASSED_ON}; {_FROM_TOP}"


def _ended(status: str) -> str:
    return {"interrupted": "was interrupted", "open": "has no recorded end"}.get(status, "failed")


def _repeats(version: Version) -> int:
    """How many runs of one cell changed a location in a row, each going on from the one before."""
    count = 1
    step = version
    while step.accumulated and step.base is not None and step.base.cell == version.cell:
        count += 1
        step = step.base
    return count
