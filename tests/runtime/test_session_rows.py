"""Rows whose values come late, as from a GPU: their order and a trip that comes with the last one."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_kit import Recorded

from jupyter_clusterbridge.model.events import CellEnd
from jupyter_clusterbridge.model.evidence import RowKind, loss_bits
from jupyter_clusterbridge.runtime.hooks import EvidenceSink


class GuardTripped(BaseException):
    pass


class Late:
    """A loss that arrives when it is told to."""

    kind = RowKind.LOSS

    def __init__(self, sink: EvidenceSink, value: float) -> None:
        self.run, self._sink, self._value = sink.run, sink, value
        self.arrived = False
        self.waited = False

    def ready(self) -> bool:
        return self.arrived

    def values(self) -> tuple[int, int]:
        self.waited = not self.arrived
        return loss_bits(self._value), 1

    def done(self) -> None:
        self._sink.tell_loss(1, self._value)


def _in_a_cell(recorded: Recorded, *steps: object) -> object:
    recorded.shell.user_ns.update(session=recorded.session, Late=Late, RowKind=RowKind)
    return recorded.run("\n".join(str(step) for step in steps))


def test_rows_behind_a_late_one_wait_so_that_the_order_never_depends_on_timing(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    for arrives in ("a.arrived = True", "pass"):
        _in_a_cell(
            recorded,
            "a, b = Late(session, 1.0), Late(session, 2.0)",
            "session.defer(a); session.step_done()",
            arrives,
            "session.drain(); session.defer(b); session.step_done()",
        )
    recorded.close()
    rows = recorded.rows()
    kinds = [RowKind.LOSS, RowKind.STEP, RowKind.LOSS, RowKind.STEP]
    assert [row.kind for row in rows] == kinds * 2
    assert [row.ordinal for row in rows] == [0, 0, 1, 1] * 2
    assert [row.where for row in rows] == [1] * 4 + [2] * 4
    assert recorded.errors == []


def test_draining_in_the_middle_does_not_wait(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    _in_a_cell(recorded, "a = Late(session, 1.0); session.defer(a); session.drain(); early = a.waited")
    recorded.close()
    assert recorded.shell.user_ns["early"] is False
    assert len(recorded.rows()) == 1


def test_a_trip_that_comes_with_the_last_loss_fails_the_cell(tmp_path: Path) -> None:
    def guard(step: int, value: float) -> None:
        raise GuardTripped("not finite")

    recorded = Recorded(tmp_path)
    recorded.session.on_loss(guard)
    result = _in_a_cell(recorded, "session.defer(Late(session, float('nan'))); session.step_done()")
    recorded.close()
    assert type(getattr(result, "error_in_exec", None)) is GuardTripped
    assert [row.kind for row in recorded.rows()] == [RowKind.LOSS, RowKind.STEP]
    assert len(recorded.events(CellEnd)) == 1


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 0.0, -1.5])
def test_a_loss_is_marked_as_finite_or_not(tmp_path: Path, value: float) -> None:
    recorded = Recorded(tmp_path)
    recorded.shell.user_ns["value"] = value
    _in_a_cell(recorded, "session.loss_seen(1, value)")
    recorded.close()
    assert [row.b for row in recorded.rows()] == [int(abs(value) < float("inf"))]
