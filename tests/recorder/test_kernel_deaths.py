"""What is told of a kernel that is gone, from what it left: its journal and its pulse."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.events import CellEnd, CellStart, Event, KernelEnd, KernelStart
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.model.state import Intervention
from jupyter_clusterbridge.recorder.check import check_notebook
from jupyter_clusterbridge.recorder.watch import memory
from jupyter_clusterbridge.recorder.watch.pulse import _PULSE, pulse_path, read_pulse, this_place
from jupyter_clusterbridge.runtime.journal import JournalWriter, journal_folder, read_journals

GB = 10**9
_CLOCK = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)


class Past:
    """Journals of kernels that never were."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "work.ipynb"
        cells = [
            {"cell_type": "code", "id": name, "source": name, "metadata": {}, "outputs": []} for name in ("a", "b")
        ]
        self.path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
        self.seconds = 0

    def now(self) -> str:
        self.seconds += 1
        return (_CLOCK + datetime.timedelta(seconds=self.seconds)).isoformat()

    def kernel(
        self,
        *runs: tuple[str, str],
        kills: int = 0,
        peak: int | None = None,
        ended: bool = False,
        place: int | None = None,
        pid: int = 1 << 30,
    ) -> None:
        """A kernel that ran cells, each with the status of its end or ``open``."""
        identity = f"kernel-abc{self.seconds:x}-{1 << 30}"
        path = journal_folder(self.path) / f"{identity}.jsonl"
        writer = JournalWriter(path, lambda error: None)
        events: list[Event] = [
            KernelStart(identity, "notebook", "3.11", self.now(), memory_bytes=16 * GB, oom_kills=kills)
        ]
        for number, (cell, status) in enumerate(runs, start=1):
            events.append(CellStart(number, cell, cell, self.now()))
            events += [] if status == "open" else [CellEnd(number, status, self.now(), 1.0)]
        for event in [*events, *([KernelEnd(self.now())] if ended else [])]:
            writer.write(event)
        writer.close()
        if peak is not None:
            pulse_path(path).write_bytes(_PULSE.pack(len(runs), peak, peak, 1.0, place or this_place()))

    def told(self) -> list[Intervention]:
        found = check_notebook(read_notebook(self.path), read_journals(self.path)).interventions
        return [one for one in found if one.kind.value in ("kernel_restart", "failed_run")]


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


def test_a_kernel_that_was_ended_for_want_of_memory_says_so(past: Past) -> None:
    past.kernel(("a", "ok"), ("b", "open"), kills=3, peak=14_200_000_000)
    past.kernel(("a", "ok"), kills=4)
    [death] = past.told()
    assert death.message == ("the kernel died in cell 1 at 14.2 GB: the system ended it, as no memory was left")
    assert death.remedy.startswith("a job dies there as well")
    assert death.cell_id == "b"


def test_a_kill_of_somebody_else_is_not_taken_for_the_kernels(past: Past) -> None:
    past.kernel(("a", "ok"), ("b", "open"), kills=3, peak=GB // 10)
    past.kernel(("a", "ok"), kills=4)
    assert past.told()[0].message == "the kernel died in cell 1 at 0.1 GB, or was killed there"


def test_the_newest_kernel_is_dead_when_its_process_is_gone(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_clusterbridge.recorder.interventions.deaths.oom_kills", lambda: 1)
    past.kernel(("a", "ok"), ("b", "open"), kills=0, peak=15 * GB)
    assert "the kernel died in cell 1 at 15.0 GB: the system ended it" in past.told()[0].message


def test_of_a_kernel_on_another_machine_nothing_is_known_until_the_next_one(past: Past) -> None:
    past.kernel(("a", "ok"), ("b", "open"), peak=GB, place=1)
    assert past.told() == []
    past.kernel(("a", "ok"))
    assert past.told()[0].message == "the kernel died in cell 1 at 1.0 GB, or was killed there"


def test_a_cell_that_ran_through_after_the_death_is_no_alarm(past: Past) -> None:
    past.kernel(("a", "ok"), ("b", "open"), peak=GB)
    past.kernel(("a", "ok"), ("b", "ok"), ended=True)
    [death] = past.told()
    assert death.harmless


def test_a_kernel_that_ended_in_order_in_the_middle_of_a_cell_has_not_died(past: Past) -> None:
    past.kernel(("a", "ok"), ("b", "open"), ended=True)
    past.kernel(("a", "ok"), ended=True)
    assert sorted(one.kind.value for one in past.told()) == ["failed_run", "kernel_restart"]
    assert not any("died" in one.message for one in past.told())


def test_a_torn_pulse_is_none(tmp_path: Path) -> None:
    (tmp_path / "k.pulse").write_bytes(b"123")
    assert read_pulse(tmp_path / "k.jsonl") is None
    assert read_pulse(tmp_path / "other.jsonl") is None


def test_the_innermost_group_counts_and_the_smallest_limit_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "job" / "step"
    inner.mkdir(parents=True)
    (tmp_path / "job" / "memory.max").write_text("2000000000\n")
    (inner / "memory.max").write_text("max\n")
    (inner / "memory.events").write_text("low 0\noom 2\noom_kill 2\n")
    (tmp_path / "membership").write_text("0::/job/step\n")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "membership")
    assert memory.memory_limit() == 2_000_000_000
    assert memory.oom_kills() == 2


def test_without_groups_the_machine_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vmstat").write_text("nr_free_pages 1\noom_kill 7\n")
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "none")
    monkeypatch.setattr(memory, "_MACHINE", tmp_path / "vmstat")
    assert memory.oom_kills() == 7
