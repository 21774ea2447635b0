"""Packages installed while the kernel ran: what is in memory against what is installed."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.model.events import EnvironmentSeen
from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.asked import seen
from jupyter_clusterbridge.recorder.interventions.past import FROM_TOP, Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run

_LISTED = 4
_LOCK = "install it before the notebook runs, so that it enters the lock"


def installs(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Install commands of cells with what they changed, and changes that no cell made."""
    before: Environment | None = None
    after = {run: event.environment for run, event in kernel.noted if isinstance(event, EnvironmentSeen)}
    for run in kernel.runs:
        now = after.get(run)
        asked = list(seen(run, InterventionKind.INSTALL))
        for message, remedy, _count, at in asked:
            yield _by_cell(past, run, message, remedy, at, before, now)
        if now is not None and not asked:
            yield from _by_nobody(past, run, before, now)
        before = now or before


def _by_cell(
    past: Past,
    run: Run,
    message: str,
    remedy: str,
    at: str | None,
    before: Environment | None,
    now: Environment | None,
) -> Intervention:
    text = message.replace("the cell", past.name(run), 1)
    stale = _stale(before, now) if now is not None else []
    new = _new(before, now) if now is not None and before is not None else []
    if stale:
        text += f"; in memory is still {_versions(stale)}"
        remedy = f"{FROM_TOP}, so that what runs is what is installed; {_LOCK}"
    elif new:
        text += f"; now installed: {', '.join(f'{one.name} {one.version}' for one in new[:_LISTED])}"
    elif before is not None and run.complete:
        text += "; it changed nothing"
    return Intervention(InterventionKind.INSTALL, past.cell_id(run), text, remedy, at or run.at)


def _by_nobody(past: Past, run: Run, before: Environment | None, now: Environment) -> Iterator[Intervention]:
    stale = _stale(before, now)
    if stale:
        message = f"packages were installed outside of the notebook by the time {past.name(run)} had run"
        text = f"{message}; in memory is still {_versions(stale)}"
        remedy = f"{FROM_TOP}, so that what runs is what is installed"
        yield Intervention(InterventionKind.INSTALL, past.cell_id(run), text, remedy, run.at)


def _stale(before: Environment | None, now: Environment) -> list[Distribution]:
    """Distributions whose version in memory is another one than on disk, since ``before`` was seen."""
    known = {
        (one.name, one.version) for one in (before.distributions if before is not None else ()) if _is_stale(one)
    }
    return [one for one in now.distributions if _is_stale(one) and (one.name, one.version) not in known]


def _is_stale(one: Distribution) -> bool:
    return one.loaded_version is not None and one.loaded_version != one.version


def _new(before: Environment, now: Environment) -> list[Distribution]:
    known = {(one.name, one.version) for one in before.distributions}
    return [one for one in now.distributions if (one.name, one.version) not in known]


def _versions(stale: list[Distribution]) -> str:
    told = [f"{one.name} {one.loaded_version} (installed: {one.version})" for one in stale[:_LISTED]]
    return ", ".join(told) + (f" and {len(stale) - _LISTED} more" if len(stale) > _LISTED else "")
