"""Which guards run with which policy, and the file of their trips."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from jupyter_clusterbridge.model.canonical import canonical_json
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.errors import DocumentInvalid, ParameterInvalid
from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy, GuardTrip, JobExit
from jupyter_clusterbridge.runtime.guard import Guard
from jupyter_clusterbridge.runtime.guards.non_finite_loss import NonFiniteLoss
from jupyter_clusterbridge.runtime.guards.stall import Stall

GUARDS_FILE = "guards.jsonl"
VARIABLE_PREFIX = "CLUSTERBRIDGE_GUARD_"

KERNEL_GUARDS: tuple[type[Guard], ...] = (NonFiniteLoss,)
"""Guards that run in the kernel, where the losses are."""
SUPERVISOR_GUARDS: tuple[type[Guard], ...] = (Stall,)
"""Guards that run beside the kernel and also see one that hangs."""

EXIT_CODES: Mapping[str, JobExit] = {
    NonFiniteLoss.name: JobExit.GUARD_NON_FINITE_LOSS,
    Stall.name: JobExit.GUARD_STALL,
}
"""What a job exits with when the guard of this name stops it."""


def guard_policies(bundle: Mapping[str, GuardPolicy], environ: Mapping[str, str]) -> dict[str, GuardPolicy]:
    """The policy of every guard: the default, then the bundle's, then ``CLUSTERBRIDGE_GUARD_<NAME>``.

    The variable holds an action, and after it thresholds if wanted.

    >>> policies = guard_policies({}, {"CLUSTERBRIDGE_GUARD_STALL": "warn,floor_s=30"})
    >>> policies["stall"].action.value, policies["stall"].thresholds["floor_s"]
    ('warn', 30.0)

    Raises:
        ParameterInvalid: the variable holds something else, or a threshold that the guard does not have.
    """
    policies: dict[str, GuardPolicy] = {}
    for guard in (*KERNEL_GUARDS, *SUPERVISOR_GUARDS):
        chosen = bundle.get(guard.name, guard.default)
        text = environ.get(VARIABLE_PREFIX + guard.name.upper())
        if text:
            chosen = _from_text(guard, chosen, text)
        policies[guard.name] = GuardPolicy(chosen.action, {**guard.default.thresholds, **chosen.thresholds})
    return policies


def _from_text(guard: type[Guard], base: GuardPolicy, text: str) -> GuardPolicy:
    variable = VARIABLE_PREFIX + guard.name.upper()
    action, *settings = (part.strip() for part in text.split(","))
    thresholds = dict(base.thresholds)
    try:
        chosen = GuardAction(action.lower())
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in guard.default.thresholds:
                raise ValueError(f"no threshold {name!r}")
            thresholds[name] = float(value)
    except ValueError as error:
        hint = f"Write {variable}=off|warn|checkpoint|stop, and after it thresholds such as ,{_example(guard)}"
        raise ParameterInvalid(f"{variable}={text}: cannot be understood ({error})", hint) from None
    return GuardPolicy(chosen, thresholds)


def _example(guard: type[Guard]) -> str:
    name, value = next(iter(guard.default.thresholds.items()))
    return f"{name}={value:g}"


def make_guards(classes: tuple[type[Guard], ...], policies: Mapping[str, GuardPolicy]) -> tuple[Guard, ...]:
    """The guards of these classes that are not off."""
    guards = (cls(policies.get(cls.name)) for cls in classes)
    return tuple(guard for guard in guards if guard.policy.action is not GuardAction.OFF)


def append_trip(run_dir: Path, trip: GuardTrip) -> None:
    """Add a line to ``guards.jsonl``, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    line = canonical_json(to_json(trip)) + b"\n"
    handle = os.open(run_dir / GUARDS_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def read_trips(run_dir: Path) -> tuple[GuardTrip, ...]:
    """All trips of a run; a torn last line is dropped."""
    try:
        content = (run_dir / GUARDS_FILE).read_bytes()
    except OSError:
        return ()
    trips: list[GuardTrip] = []
    for line in content.split(b"\n")[:-1]:
        try:
            trips.append(from_json(GuardTrip, json.loads(line), GUARDS_FILE))
        except (ValueError, DocumentInvalid):
            continue
    return tuple(trips)


def stopping_trip(run_dir: Path) -> GuardTrip | None:
    """The first trip of the run whose action is ``stop``."""
    return next((trip for trip in read_trips(run_dir) if trip.action == GuardAction.STOP.value), None)
