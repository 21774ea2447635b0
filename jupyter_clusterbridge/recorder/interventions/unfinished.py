"""Runs that did not come to their end: interrupted, or failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from jupyter_clusterbridge.model.events import StoppedAt
from jupyter_clusterbridge.model.notebook import MAY_RAISE_TAG
from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.deaths import died_in
from jupyter_clusterbridge.recorder.interventions.past import FROM_TOP, Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run

_THROUGH = f"{NOTHING}: it ran through later"


def unfinished(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Interrupts and failures of each cell; a cell in which the kernel died is told of with the death."""
    dead = died_in(past, kernel)
    places = {run: event for run, event in kernel.noted if isinstance(event, StoppedAt)}
    for runs in past.by_cell(kernel).values():
        ended = [run for run in runs if run is not dead and (run is not past.newest or run.status != "open")]
        yield from _interrupts(past, ended, places)
        yield from _failures(past, ended)


def _interrupts(past: Past, runs: Sequence[Run], places: dict[Run | None, StoppedAt]) -> Iterator[Intervention]:
    stopped = [run for run in runs if run.status == "interrupted"]
    if not stopped:
        return
    last = stopped[-1]
    message = f"{past.name(last)} was interrupted{_place(places.get(last), last)}"
    message += f", {len(stopped)} times" if len(stopped) > 1 else ""
    remedy = "nobody interrupts a job: give it a number of steps or a time limit at which it ends"
    if runs[-1].complete and not past.astray:
        remedy = _THROUGH
    yield Intervention(InterventionKind.INTERRUPT, past.cell_id(last), message, remedy, last.at)


def _place(found: StoppedAt | None, run: Run) -> str:
    """Where it was: the training step before the clock, as a job can be given steps."""
    if found is None:
        return f" after {run.duration_s:.1f} s"
    loops = ", ".join(f"`{name} = {count}`" for name, count in found.loops.items())
    if found.step is None:
        return f" at {loops}, after {run.duration_s:.1f} s"
    return f" at training step {found.step}" + (f" ({loops})" if loops else "") + f", after {run.duration_s:.1f} s"


def _failures(past: Past, runs: Sequence[Run]) -> Iterator[Intervention]:
    failed = [run for run in runs if not run.complete and run.status != "interrupted"]
    for (status, error), count in Counter((run.status, run.error) for run in failed).items():
        first = next(run for run in failed if (run.status, run.error) == (status, error))
        how = {
            "exit": "ended with SystemExit",
            "open": "has no recorded end: the kernel was shut down meanwhile, or the recording stopped",
        }.get(status, f"failed with {error or 'an error'}")
        times = f", {count} times" if count > 1 else ""
        remedy = "a job stops at this cell: repair it, or take it out"
        if runs[-1].complete:
            remedy = (
                _THROUGH if not past.astray else "it ran through later, make sure that it does so in a clean run"
            )
        elif status == "error" and first.cell is not None and MAY_RAISE_TAG in past.cells[first.cell].tags:
            remedy = f"{NOTHING}: the cell is tagged `{MAY_RAISE_TAG}`, a job goes on after it"
        elif first.cell in past.astray and status == "error":
            remedy = f"a clean run gives it other inputs: {FROM_TOP}"
        elif status == "open":
            remedy = "run it again: a job has to get through it"
        message = f"{past.name(first)} {how}{times}"
        yield Intervention(InterventionKind.FAILED_RUN, past.cell_id(first), message, remedy, first.at)
