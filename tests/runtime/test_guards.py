"""The guards' own logic, their policies and the file of trips."""

from __future__ import annotations

import json
import math

import pytest

from jupyter_clusterbridge.model.errors import ParameterInvalid
from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy
from jupyter_clusterbridge.runtime.guard import Observation
from jupyter_clusterbridge.runtime.guarding import append_trip, guard_policies, read_trips, stopping_trip
from jupyter_clusterbridge.runtime.guards.non_finite_loss import NonFiniteLoss
from jupyter_clusterbridge.runtime.guards.stall import Stall
from jupyter_clusterbridge.runtime.kernel_guards import GuardTripped, install_guards


def _losses(guard, *values):
    return [
        guard.observe(Observation(at=float(step), step=step, loss=value)) for step, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_trips_at_its_step(value):
    trips = _losses(NonFiniteLoss(), 0.5, 0.4, value)
    assert trips[:2] == [None, None]
    assert (trips[2].guard, trips[2].action, trips[2].step) == ("non_finite_loss", "stop", 3)


def test_a_bad_loss_trips_once_until_a_finite_one_was_seen():
    trips = _losses(NonFiniteLoss(), math.nan, math.nan, math.nan, 0.1, math.nan)
    assert [trip is not None for trip in trips] == [True, False, False, False, True]


def test_losses_of_any_finite_size_never_trip():
    assert not any(_losses(NonFiniteLoss(), 0.0, -1e308, 1e308, 5e-324, -0.0))


def test_several_bad_losses_in_a_row_can_be_asked_for():
    guard = NonFiniteLoss(GuardPolicy(GuardAction.WARN, {"consecutive": 3.0}))
    trips = _losses(guard, math.nan, math.nan, 1.0, math.nan, math.inf, math.nan)
    assert [trip is not None for trip in trips] == [False] * 5 + [True]
    assert trips[5].threshold == 3.0


def _stall(**thresholds):
    return Stall(GuardPolicy(GuardAction.STOP, {"floor_s": 10.0, "factor": 5.0, "min_steps": 3.0, **thresholds}))


def _steps(guard, *pairs):
    return [guard.observe(Observation(at=at, step=step)) for at, step in pairs]


def test_training_that_stops_making_steps_trips_once():
    guard = _stall()
    trips = _steps(guard, (0, 0), (1, 2), (2, 4), (3, 6), (12, 6), (14, 6), (15, 6))
    assert [trip is not None for trip in trips] == [False] * 5 + [True, False]
    assert (trips[5].step, trips[5].threshold) == (6, 10.0)


def test_before_some_steps_were_seen_nothing_is_a_stall():
    assert not any(_steps(_stall(), (0, 0), (5000, 0), (5001, 1), (9000, 1)))


def test_slow_steps_get_a_longer_limit_than_the_floor():
    guard = _stall()
    _steps(guard, (0, 0), (8, 1), (16, 2), (24, 3), (32, 4))
    assert guard.limit_s() == 40.0
    assert _steps(guard, (71, 4)) == [None]
    assert _steps(guard, (73, 4))[0] is not None


def test_a_pause_that_training_came_back_from_is_allowed_again():
    guard = _stall(floor_s=30.0)
    steps = [(float(number), number) for number in range(6)]
    assert not any(_steps(guard, *steps, (30.0, 5), (31.0, 6), (32.0, 7), (80.0, 7)))


def test_a_new_cell_starts_afresh():
    guard = _stall()
    _steps(guard, (0, 0), (1, 5), (2, 9))
    guard.begin_cell()
    assert not any(_steps(guard, (3, 9), (5000, 9)))


def test_the_environment_overrides_the_bundle_and_the_bundle_the_default():
    bundle = {"stall": GuardPolicy(GuardAction.WARN, {"floor_s": 5.0})}
    policies = guard_policies(bundle, {"CLUSTERBRIDGE_GUARD_NON_FINITE_LOSS": "off"})
    assert policies["stall"].action is GuardAction.WARN
    assert policies["stall"].thresholds["floor_s"] == 5.0
    assert policies["stall"].thresholds["min_steps"] == Stall.default.thresholds["min_steps"]
    assert policies["non_finite_loss"].action is GuardAction.OFF
    policies = guard_policies(bundle, {"CLUSTERBRIDGE_GUARD_STALL": "STOP, factor=2"})
    assert policies["stall"].action is GuardAction.STOP
    assert (policies["stall"].thresholds["factor"], policies["stall"].thresholds["floor_s"]) == (2.0, 5.0)


@pytest.mark.parametrize("text", ["never", "warn,floor=3", "warn,floor_s=much"])
def test_a_policy_that_cannot_be_understood_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(ParameterInvalid) as caught:
        guard_policies({}, {"CLUSTERBRIDGE_GUARD_STALL": text})
    assert text in caught.value.message
    assert "off|warn|checkpoint|stop" in caught.value.next_step


class Losses:
    """A session of which only the losses matter."""

    def __init__(self):
        self.observers = []

    def on_loss(self, observer):
        self.observers.append(observer)

    def give(self, step, value):
        for observer in self.observers:
            observer(step, value)


def test_a_stop_in_the_kernel_is_written_first_and_then_raised_past_except_exception(tmp_path):
    losses = Losses()
    install_guards(losses, {}, tmp_path)
    losses.give(1, 0.5)
    with pytest.raises(GuardTripped) as caught:
        losses.give(2, math.nan)
    assert not isinstance(caught.value, Exception)
    (line,) = (tmp_path / "guards.jsonl").read_text().splitlines()
    assert json.loads(line)["value"] == "nan"
    assert set(json.loads(line)) == {"guard", "action", "step", "value", "threshold", "message", "at"}
    assert stopping_trip(tmp_path).step == 2


def test_a_warning_is_written_and_training_goes_on(tmp_path, capsys):
    losses = Losses()
    install_guards(losses, {"non_finite_loss": GuardPolicy(GuardAction.WARN, {})}, tmp_path)
    losses.give(1, math.inf)
    assert "the loss at step 1 is inf" in capsys.readouterr().err
    assert [trip.action for trip in read_trips(tmp_path)] == ["warn"]
    assert stopping_trip(tmp_path) is None


def test_a_guard_that_is_off_costs_nothing(tmp_path):
    losses = Losses()
    install_guards(losses, {"non_finite_loss": GuardPolicy(GuardAction.OFF, {})}, tmp_path)
    assert losses.observers == []


def test_a_torn_line_in_the_file_of_trips_is_dropped(tmp_path):
    append_trip(tmp_path, NonFiniteLoss().trip("bad", step=1))
    with (tmp_path / "guards.jsonl").open("a") as handle:
        handle.write('{"guard": "non_fin')
    assert [trip.message for trip in read_trips(tmp_path)] == ["bad"]
