"""What a person did that a job will not do, once for each cause, with the remedy in words: one subject a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_clusterbridge.model.notebook import Cell
from jupyter_clusterbridge.model.state import Intervention
from jupyter_clusterbridge.recorder.interventions.asked import typed_inputs
from jupyter_clusterbridge.recorder.interventions.deaths import restarts
from jupyter_clusterbridge.recorder.interventions.files import changed_files
from jupyter_clusterbridge.recorder.interventions.installs import installs
from jupyter_clusterbridge.recorder.interventions.leftovers import leftovers
from jupyter_clusterbridge.recorder.interventions.modules import changed_modules
from jupyter_clusterbridge.recorder.interventions.order import by_consequence
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.interventions.pokes import pokes
from jupyter_clusterbridge.recorder.interventions.sequence import edits, out_of_order, reruns
from jupyter_clusterbridge.recorder.interventions.surroundings import surroundings
from jupyter_clusterbridge.recorder.interventions.unfinished import unfinished
from jupyter_clusterbridge.recorder.interventions.widgets import widget_moves
from jupyter_clusterbridge.recorder.replay import CellHistory
from jupyter_clusterbridge.recorder.runs import Kernel

_IN_KERNEL = (
    typed_inputs, out_of_order, reruns, edits, unfinished, widget_moves, installs, surroundings, changed_modules,
)  # fmt: skip


def find_interventions(
    cells: Sequence[Cell],
    kernels: Sequence[Kernel],
    histories: Sequence[CellHistory],
    deleted: set[str],
    folder: Path | None = None,
) -> tuple[Intervention, ...]:
    """Interventions in the kernels that some cell's last run comes from, in the order in which they happened.

    What was done in older kernels has left nothing in the recorded state.

    Args:
        cells: code cells of the saved file.
        kernels: kernels with their runs, matched to the cells.
        histories: what became of each cell.
        deleted: ids of cells that the front end reported as deleted.
        folder: the notebook's folder, in which files are looked at; None looks at none.
    """
    past = Past(cells, kernels, histories, deleted, folder)
    found: list[Intervention] = list(restarts(past))
    for number in past.counted:
        for source in _IN_KERNEL:
            found.extend(source(past, kernels[number]))
    found.extend(changed_files(past))
    poked = list(pokes(past))
    found.extend(intervention for _, intervention in poked)
    found.extend(leftovers(past, found, {run for run, _ in poked}))
    return tuple(sorted(found, key=lambda one: one.at or ""))


__all__ = ["by_consequence", "find_interventions"]
