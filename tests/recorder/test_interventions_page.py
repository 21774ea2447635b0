"""The page on interventions against the code."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.order import CONSEQUENCE, by_consequence

PAGE = Path(__file__).parents[2] / "docs" / "interventions.md"


def test_the_table_has_every_kind_in_the_order_of_consequence() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [kind.value for kind in CONSEQUENCE]
    assert set(CONSEQUENCE) == set(InterventionKind)


def test_the_harmless_come_last_and_a_death_in_a_cell_comes_early() -> None:
    def one(kind: InterventionKind, remedy: str = "repair it", cell: str | None = None) -> Intervention:
        return Intervention(kind, cell, "", remedy)

    harmless = one(InterventionKind.DELETED_CELL_STATE, "nothing to do: it is gone")
    restart, death = one(InterventionKind.KERNEL_RESTART), one(InterventionKind.KERNEL_RESTART, cell="c")
    failed, edit = one(InterventionKind.FAILED_RUN), one(InterventionKind.EDITED_RERUN)
    given = [harmless, restart, failed, edit, death]
    assert by_consequence(given) == (death, edit, failed, restart, harmless)
