"""The user's own modules, reloaded or changed on disk under cells that had run with the old source."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from jupyter_clusterbridge.model.canonical import digest_file
from jupyter_clusterbridge.model.events import ModuleSource
from jupyter_clusterbridge.model.state import NOTHING, Intervention, InterventionKind
from jupyter_clusterbridge.recorder.interventions.files import place_of
from jupyter_clusterbridge.recorder.interventions.past import FROM_TOP, Past
from jupyter_clusterbridge.recorder.runs import Kernel, Run
from jupyter_clusterbridge.runtime.source import parse_cell

_Noted = list[tuple["Run | None", ModuleSource]]


def changed_modules(past: Past, kernel: Kernel) -> Iterator[Intervention]:
    """Modules whose source changed while the kernel ran, each once."""
    by_module: dict[str, _Noted] = {}
    for run, event in kernel.noted:
        if isinstance(event, ModuleSource):
            by_module.setdefault(event.module, []).append((run, event))
    order = {run: number for number, run in enumerate(kernel.runs)} if by_module else {}
    for module, noted in sorted(by_module.items()):
        loads = [(run, event) for run, event in noted if event.how != "changed"]
        loaded = loads[-1][1].digest
        if len({event.digest for _, event in loads}) > 1:
            yield _reloaded(past, kernel, module, loads, order)
        if _on_disk(past, noted[-1][1]) not in (loaded, None):
            yield _stale(past, kernel, module, noted)


def _reloaded(past: Past, kernel: Kernel, module: str, loads: _Noted, order: dict[Run, int]) -> Intervention:
    run, event = next(pair for pair in reversed(loads) if pair[1].how in ("reloaded", "autoreloaded"))
    how = "%autoreload" if event.how == "autoreloaded" else "a reload"
    place = past.name(run) if run is not None else "the first cell"
    message = f"the module `{module}` was edited and {how} put the new source in place at {place}"
    last = loads[-1][1].digest
    used = [(one, _digest_at(order[one], loads, order)) for one in _users(past, kernel, module)]
    cells = [one.cell for one, digest in used if digest not in (last, None) and one.cell is not None]
    remedy = f"{NOTHING}: every cell that uses it has run again since"
    if cells:
        message += f"; {past.named(cells)} had run with the old one"
        remedy = f"run {past.named(cells)} again, and what builds on it"
    cell_id = past.cell_id(run) if run is not None else None
    return Intervention(InterventionKind.MODULE_CHANGED, cell_id, message, remedy, event.at)


def _digest_at(number: int, loads: _Noted, order: dict[Run, int]) -> str | None:
    """The source that a run used: what was reloaded in a run counts for that run."""
    before = [event for run, event in loads if run is None or order.get(run, -1) <= number]
    return before[-1].digest if before else None


def _stale(past: Past, kernel: Kernel, module: str, noted: _Noted) -> Intervention:
    run, event = noted[-1]
    users = [one.cell for one in _users(past, kernel, module) if one.cell is not None]
    message = (
        f"the source of the module `{module}` ({event.path}) was changed, and the kernel still has the old one"
    )
    message += f"; {past.named(users)} used it" if users else ""
    cell_id = past.cells[min(users)].id if users else None
    at = event.at if event.how == "changed" else (run.at if run is not None else None)
    return Intervention(
        InterventionKind.MODULE_CHANGED, cell_id, message, f"{FROM_TOP}: a job loads the new one", at
    )


def _on_disk(past: Past, event: ModuleSource) -> str | None:
    place = place_of(past.folder, event.path)
    try:
        return digest_file(place) if place is not None else event.digest
    except OSError:
        return None


def _users(past: Past, kernel: Kernel, module: str) -> list[Run]:
    """Last runs of cells that use a module or what they imported from it."""
    sources = {run.source for run in kernel.runs}
    names = {name for source in sources for name in _bound_by_imports(source, module)}
    wanted = {*(f"name:{name}" for name in names), f"module:{module}"}
    return [run for run in kernel.runs if past.is_last(run) and run.reads & wanted]


def _bound_by_imports(source: str, module: str) -> Iterator[str]:
    package, _, last = module.rpartition(".")
    for origin, name, bound in _imports(source) if last in source else ():
        whole = name is None and (origin == module or origin.startswith(module + "."))
        if whole or (name is not None and (origin == module or (origin, name) == (package, last))):
            yield bound


@functools.lru_cache(maxsize=4096)
def _imports(source: str) -> tuple[tuple[str, str | None, str], ...]:
    """Module, the name that is taken from it or None, and the name that it is bound to."""
    tree = parse_cell(source).tree
    found: list[tuple[str, str | None, str]] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            found += [(one.name, None, one.asname or one.name.partition(".")[0]) for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found += [(node.module, one.name, one.asname or one.name) for one in node.names]
    return tuple(found)
