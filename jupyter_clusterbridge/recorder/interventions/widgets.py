"""Widgets that a person moved, and the cells that read them after that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from jupyter_clusterbridge.model.events import OutsideChange, WidgetMoved
from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.past import Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run
from jupyter_clusterbridge.recorder.shows import only_shows


@dataclass
class _Moves:
    """All moves of one widget between two times that its variable was set."""

    first: WidgetMoved
    last: WidgetMoved
    count: int = 1
    writes: set[str] = field(default_factory=set)
    readers: list[Run] = field(default_factory=list)
    over: bool = False
    """Whether the variable holds another widget by now."""


def widget_moves(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """One for each widget that was moved."""
    for moves in _chains(past, kernel):
        event = moves.last
        back = moves.first.old == event.new and event.old is not None
        if (back or moves.over) and not moves.readers and not moves.writes:
            continue
        message = _message(past, moves)
        remedy = _remedy(event)
        if not moves.readers and not moves.writes:
            remedy = f"{NOTHING}: no cell has read it since"
        cell_id = past.cell_id(moves.readers[0]) if moves.readers else None
        yield Intervention(InterventionKind.WIDGET_CHANGE, cell_id, message, remedy, event.at)


def _chains(past: Past, kernel: Kernel) -> Iterator[_Moves]:
    beside: dict[Run | None, set[str]] = {}
    for run, other in kernel.noted:
        if isinstance(other, OutsideChange) and not other.by and other.location.startswith("name:"):
            beside.setdefault(run, set()).add(other.location.removeprefix("name:"))
    moved = [
        (run, replace(event, writes=tuple(sorted({*event.writes, *beside.get(run, ())} - {*event.names}))))
        for run, event in kernel.noted
        if isinstance(event, WidgetMoved)
    ]
    groups: dict[tuple[object, ...], list[tuple[Run | None, WidgetMoved]]] = {}
    for run, event in moved:
        groups.setdefault((event.names or event.description, event.widget, event.trait), []).append((run, event))
    for group in groups.values():
        yield from _segments(past, kernel, group)


def _segments(past: Past, kernel: Kernel, group: list[tuple[Run | None, WidgetMoved]]) -> Iterator[_Moves]:
    locations = {f"name:{name}" for name in group[0][1].names}
    waiting = list(group)
    current: _Moves | None = None
    for number in range(-1, len(kernel.runs)):
        run = kernel.runs[number] if number >= 0 else None
        if run is not None and current is not None:
            if _reads(past, run, locations, current) and (
                current.last.new != current.first.old or not current.last.new
            ):
                current.readers.append(run)
            if locations & (run.writes - run.mutates):
                current.over = True
                yield current
                current = None
        while waiting and waiting[0][0] is run:
            event = waiting.pop(0)[1]
            if current is None:
                current = _Moves(event, event, 0)
            current.last, current.count = event, current.count + 1
            current.writes.update(event.writes)
    if current is not None:
        yield current


def _reads(past: Past, run: Run, locations: set[str], moves: _Moves) -> bool:
    wanted = locations | {f"name:{name}" for name in moves.writes}
    found = {location[5:] for location in run.reads & wanted}
    return past.is_last(run) and bool(found) and not only_shows(run.source, found)


def _message(past: Past, moves: _Moves) -> str:
    event = moves.last
    what = f"the widget `{event.names[0]}`" if event.names else "a widget"
    label = f' "{event.description}"' if event.description else ""
    text = f"{what} ({event.widget}{label}) was "
    if event.trait == "click":
        text += "clicked" + (f" {moves.count} times" if moves.count > 1 else "")
    elif event.new is None:
        text += "filled in"
    else:
        text += f"moved from `{moves.first.old}` to `{event.new}`"
    if moves.writes:
        text += f" and set {', '.join(f'`{name}`' for name in sorted(moves.writes)[:4])}"
    if moves.readers:
        positions = [run.cell for run in moves.readers if run.cell is not None]
        text += f"; {past.named(positions)} read it after that"
    return text


def _remedy(event: WidgetMoved) -> str:
    if event.trait == "click":
        return "call in a cell what the button does: a job has nobody to click"
    if event.new is None:
        return "read it from an environment variable or a file: a job has nobody to fill it in"
    if event.names and event.trait == "value":
        return f"write `{event.names[0]}.value = {event.new}` into a cell, or make it a parameter"
    return "write the value into a cell, or make it a parameter"
