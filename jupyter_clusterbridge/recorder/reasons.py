"""Why a cell diverged, in one sentence that names the location and the other cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.model.state import Reason
from jupyter_clusterbridge.recorder.names import analyse_cell
from jupyter_clusterbridge.recorder.replay import CellHistory, Mismatch
from jupyter_clusterbridge.recorder.runs import Run
from jupyter_clusterbridge.recorder.versions import Version

UNSAFE = "running it again"
"""How the reason of a cell begins that is not safe to rerun."""
ACCUMULATES = "which accumulates"
PASSED_ON = "that had other inputs than in a clean run"
STOPS = "a clean run ends at"
"""How the reason of a cell begins that a clean run never reaches."""
_KINDS = {"env": "the variable", "file": "the file", "module": "the module"}
_WHO = {
    "widget": "a person at a widget",
    "thread": "a background thread",
    "task": "a task that ran on in the background",
    "": "a widget's callback, a timer, a debugger or a background thread",
}
_SEVERAL = (("was ", "were "), ("is ", "are "), ("has ", "have "))


def describe(location: str) -> str:
    """A location in words.

    >>> describe("name:model"), describe("rng:numpy"), describe("env:SEED")
    ('`model`', 'the random stream `numpy`', 'the variable `SEED`')
    >>> describe("column:df.z"), describe("attr:Config.lr"), describe("cwd:.")
    ('the column `z` of `df`', '`Config.lr`', 'the working directory')
    """
    kind, _, name = location.partition(":")
    if kind == "cwd":
        return "the working directory"
    if kind == "column":
        frame, _, label = name.partition(".")
        return f"the column `{label}` of `{frame}`" if label != "index" else f"the rows of `{frame}`"
    if kind == "rng":
        return f"the random stream `{name}`"
    return f"{_KINDS[kind]} `{name}`" if kind in _KINDS else f"`{name}`"


def listed(locations: Sequence[str]) -> str:
    """Several locations in words, at most three of them by name."""
    names = [describe(location) for location in locations[:3]]
    if len(locations) > 3:
        names.append(f"{len(locations) - 3} more")
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def sentences(reasons: Iterable[Reason]) -> list[str]:
    """Each cause once, with all locations that it holds for.

    >>> both = [Reason("name", n, "a", f"`{n}` was set by cell 4 below") for n in ("x", "y")]
    >>> sentences(both)
    ['`x` and `y` were set by cell 4 below']
    """
    groups: dict[str, list[str]] = {}
    for reason in reasons:
        location = f"{reason.kind}:{reason.name}"
        what = describe(location)
        begins = reason.message.startswith(what + " ")
        rest = reason.message[len(what) :] if begins else reason.message
        groups.setdefault(rest, []).extend([location] if begins else [])
    return [_sentence(rest, locations) for rest, locations in groups.items()]


def _sentence(rest: str, locations: Sequence[str]) -> str:
    if not locations:
        return rest
    words = rest.removeprefix(" ")
    for one, more in _SEVERAL:
        if len(locations) > 1 and words.startswith(one):
            words = more + words.removeprefix(one)
    return f"{listed(locations)} {words}"


def explain(cells: Sequence[Cell], history: CellHistory, mismatch: Mismatch, deleted: set[str]) -> Reason:
    """The reason for one mismatch."""
    kind, _, name = mismatch.location.partition(":")
    other, message = _cause(cells, history.position, mismatch, deleted)
    return Reason(kind, name, other, message)


def explain_missing(cells: Sequence[Cell], location: str, expected: Version) -> Reason:
    """The reason for a location that a failed run did not find."""
    kind, _, name = location.partition(":")
    other = cells[expected.cell] if expected.cell is not None else None
    maker = f"; cell {other.index} makes it" if other is not None else ""
    message = f"{describe(location)} did not exist when this cell ran{maker}"
    return Reason(kind, name, other.id if other is not None else None, message)


def explain_unfinished(cell: Cell, status: str) -> Reason:
    """The reason of a cell whose last run did not come to its end."""
    return Reason("cell", "run", cell.id, f"its last run {_ended(status)}, and a clean run goes on to the end")


def explain_stop(cell: Cell, run: Run) -> Reason:
    """The reason of a cell below one at which a clean run ends."""
    how = "ends with SystemExit" if run.status == "exit" else f"fails with {run.error or 'an error'}"
    message = f"{STOPS} cell {cell.index}, which {how}, and never comes here"
    return Reason("cell", "run", cell.id, message, f"repair cell {cell.index} or take it out")


def _cause(cells: Sequence[Cell], position: int, mismatch: Mismatch, deleted: set[str]) -> tuple[str | None, str]:
    what, actual, expected = describe(mismatch.location), mismatch.actual, mismatch.expected
    if actual.outside and mismatch.location.startswith("module:"):
        return None, f"the source of {what} has changed since this cell used it"
    if actual.outside:
        return None, f"{what} has changed since this cell read it"
    if actual.beside is not None:
        return None, f"{what} was changed between cells, by {_WHO[actual.beside]}; {_instead(cells, expected)}"
    verb = "moved on" if mismatch.location.startswith("rng:") else "set"
    if actual.cell is None:
        lost = actual.run.cell_id if actual.run is not None else None
        gone = "was deleted" if lost in deleted else "is not in the saved file"
        return lost, f"{what} was {verb} by a cell that {gone}; {_instead(cells, expected)}"
    other = cells[actual.cell]
    where = f"cell {other.index}"
    if actual.cell == position and (expected is None or expected.cell != position):
        return other.id, _own(what, mismatch, other)
    if expected is None or expected.cell != actual.cell:
        side = "below" if actual.cell > position else "above"
        return other.id, f"{what} was {verb} by {where} {side}; {_instead(cells, expected)}"
    return other.id, _same_producer(cells, what, where, actual, expected)


def _instead(cells: Sequence[Cell], expected: Version | None) -> str:
    if expected is None or expected.cell is None:
        return "a clean run would not have it there"
    return f"a clean run takes it from cell {cells[expected.cell].index}"


def _own(what: str, mismatch: Mismatch, cell: Cell) -> str:
    run = mismatch.actual.run
    if run is not None and run.key != analyse_cell(cell.source).key and run.source.strip() not in cell.source:
        return f"{what} had been changed by this cell before it was edited"
    if run is not None and not run.complete:
        return f"{what} had been changed by a run of this cell that {_ended(run.status)}"
    times = _repeats(mismatch.actual)
    earlier = "an earlier run" if times == 1 else f"{times} earlier runs"
    return f"{what} had been changed by {earlier} of this cell, and a clean run changes it once"


def _same_producer(cells: Sequence[Cell], what: str, where: str, actual: Version, expected: Version) -> str:
    assert actual.cell is not None
    run = actual.run
    if run is not None and run.piece is None:
        return f"{what} came from {where} before it was edited"
    if run is not None and run.key != analyse_cell(cells[actual.cell].source).key and not _is_part(run, cells):
        return f"{what} came from {where} before it was edited"
    if run is not None and not run.complete:
        return f"{what} was left by a run of {where} that {_ended(run.status)}"
    times = _repeats(actual) - _repeats(expected) + 1
    if times > 1:
        return f"{what} was changed {times} times by {where}, {ACCUMULATES}; a clean run changes it once"
    return f"{what} came from a run of {where} {PASSED_ON}"


def _is_part(run: Run, cells: Sequence[Cell]) -> bool:
    """Whether a run's statements are a part of its cell, which was merged from several."""
    return run.cell is not None and run.source.strip() in cells[run.cell].source


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
