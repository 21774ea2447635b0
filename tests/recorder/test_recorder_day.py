"""Half a day of work: a thousand cell runs in one kernel, and what is left of them on disk and in memory."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

from jupyter_clusterbridge.model.events import CellStart, EnvironmentSeen, FileRead

RUNS = 1000
CELLS = 40
BODY = "\n".join(
    f"    step_{n} = value * {n} + offset  # what this line does in the long run, in words" for n in range(25)
)
READ = "rows = [line.split(',') for line in open('table.csv')]"


def source(number: int, edit: int) -> str:
    if number % 10 == 0:
        return f"# edit {edit}\n{READ}"
    head = f"def work_{number}(value, offset={edit}):"
    return f"{head}\n{BODY}\n    return step_24\n\n\nresult_{number} = work_{number}({number})"


@pytest.mark.slow
def test_the_journal_of_half_a_day_stays_under_half_of_five_megabytes_and_is_read_back_whole(bench, tmp_path):
    (tmp_path / "table.csv").write_text("1,2\n" * 50)
    one = bench(*(source(number, 0) for number in range(CELLS)))
    ids = list(one.cells)
    for run in range(RUNS):
        cell = run % CELLS
        if run >= CELLS and run % 11 == 0:
            one.edit(ids[cell], source(cell, run))
        one.run(ids[cell])
        one.results.clear()
    (journal,) = one.journals()
    assert journal.path.stat().st_size < 2_500_000
    starts = [event for event in journal.events if isinstance(event, CellStart)]
    assert len(starts) == RUNS
    assert [start.source for start in starts[-CELLS:]] == [one.cells[start.cell_id] for start in starts[-CELLS:]]
    assert len([event for event in journal.events if isinstance(event, FileRead)]) == RUNS // 10
    assert len([event for event in journal.events if isinstance(event, EnvironmentSeen)]) < RUNS // 50
    written = [json.loads(line).get("source") for line in journal.path.read_bytes().splitlines()]
    long = [text for text in written if text is not None and len(text) > 80]
    assert len(long) == len(set(long))


def test_the_recorder_keeps_nothing_of_the_users_alive(bench):
    one = bench(
        "class Box:\n    pass\nbox = Box()\nbox.items = [Box() for _ in range(5)]",
        "def look(thing):\n    return len(thing.items)\nlook(box)",
        "del box",
    )
    one.run("a", "b")
    seen = weakref.ref(one.shell.user_ns["box"])
    one.results.clear()
    one.run("c")
    gc.collect()
    assert seen() is None
