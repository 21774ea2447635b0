"""Questions that a cell put to a person, and what was done at the prompt of a debugger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run
from jupyter_clusterbridge.recorder.watch.debugger import BY_HAND


def typed_inputs(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """What the kernel saw of it, equal things of one run together."""
    for run in kernel.runs:
        for message, remedy, count, at in seen(run, InterventionKind.TYPED_INPUT):
            text = message.replace("the cell", past.name(run), 1) + (f", {count} times" if count > 1 else "")
            if BY_HAND not in message and not _asks_still(past, run):
                remedy = f"{NOTHING}: the notebook as it is asks nothing there"
            yield Intervention(InterventionKind.TYPED_INPUT, past.cell_id(run), text, remedy, at or run.at)


def seen(run: Run, kind: InterventionKind) -> Iterator[tuple[str, str, int, str | None]]:
    """Message, remedy, count and time of what the kernel saw of one kind in a run."""
    found = [one for one in run.seen if one.kind is kind]
    for (message, remedy), count in Counter((one.message, one.remedy) for one in found).items():
        yield message, remedy, count, next(one.at for one in found if one.message == message)


def _asks_still(past: Past, run: Run) -> bool:
    if run.cell is None:
        return False
    last = past.histories[run.cell].last
    return last is run or last is None or any(True for _ in seen(last, InterventionKind.TYPED_INPUT))
