"""Reports as text: what a person reads first is what asks for something."""

from __future__ import annotations

from jupyter_clusterbridge.app.text import check_lines
from jupyter_clusterbridge.model.state import CellReport, CellState, CheckReport, Intervention, InterventionKind


def report(*states: str, remedy: str = "nothing to do: all is well") -> CheckReport:
    letters = {state.value[0]: state for state in CellState}
    cells = tuple(CellReport(f"c{i}", i, letters[letter], False) for i, letter in enumerate(states))
    seen = Intervention(InterventionKind.RERUN, "c0", "cell 0 ran 2 times", remedy)
    return CheckReport(cells=cells, interventions=(seen,))


def test_cells_that_never_ran_take_one_line() -> None:
    assert "cells 1 to 3, 5: never run" in list(check_lines(report(*"cnnncn")))
    assert "cell 1: never run" in list(check_lines(report(*"cn")))
    assert not [line for line in check_lines(report(*"cc")) if "never run" in line]


def test_what_asks_for_nothing_is_left_to_check() -> None:
    assert "rerun: cell 0 ran 2 times" in list(check_lines(report(*"c")))
    assert "rerun: cell 0 ran 2 times" not in list(check_lines(report(*"c"), unsafe=False))
    kept = check_lines(report(*"c", remedy="restart the kernel"), unsafe=False)
    assert "rerun: cell 0 ran 2 times" in list(kept)


def test_a_remedy_that_many_share_is_said_once_and_the_harmless_are_counted() -> None:
    seen = [Intervention(InterventionKind.FAILED_RUN, f"c{n}", f"cell {n} failed", "repair it") for n in range(7)]
    lines = list(check_lines(CheckReport(interventions=tuple(seen))))
    assert lines[-8:] == [*(f"failed run: cell {n} failed" for n in range(7)), "    repair it"]
    easy = [Intervention(one.kind, one.cell_id, one.message, "nothing to do: it is tagged") for one in seen]
    lines = list(check_lines(CheckReport(interventions=tuple(easy))))
    assert lines[-3:] == [
        "failed run: cell 4 failed",
        "failed run: 2 more like these",
        "    nothing to do: it is tagged",
    ]
