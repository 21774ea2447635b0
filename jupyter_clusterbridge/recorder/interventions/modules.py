"""The user's own modules, reloaded or changed on disk under cells that had run with the old source."""

from __future__ import annotations

import ast
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
    """Modules whose source changed while the kernel ran."""
    by_module: dict[str, _Noted] = {}
    for run, event in kernel.noted:
        if isinstance(event, ModuleSource):
            by_module.setdefault(event.module, []).append((run, event))
    for module, noted in sorted(by_module.items()):
        loaded = noted[0][1].digest
        for run, event in noted[1:]:
            if event.how in ("reloaded", "autoreloaded") and event.digest != loaded and run is not None:
                yield _reloaded(past, kernel, module, run, event)
            loaded = loaded if event.how == "changed" else event.digest
        if _on_disk(past, noted[-1][1]) not in (loaded, None):
            yield _stale(past, kernel, module, noted)


def _reloaded(past: Past, kernel: Kernel, module: str, run: Run, event: ModuleSource) -> Intervention:
    how = "%autoreload" if event.how == "autoreloaded" else "a reload"
    message = f"the module `{module}` was edited and {how} put the new source in place at {past.name(run)}"
    old = [one.cell for one in _users(past, kernel, module) if kernel.runs.index(one) < kernel.runs.index(run)]
    cells = [cell for cell in old if cell is not None]
    remedy = f"{NOTHING}: every cell that uses it has run again since"
    if cells:
        message += f"; {past.named(cells)} had run with the old one"
        remedy = f"run {past.named(cells)} again, and what builds on it"
    return Intervention(InterventionKind.MODULE_CHANGED, past.cell_id(run), message, remedy, event.at)


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


def _users(past: Past, kernel: Kernel, module: str) -> Iterator[Run]:
    """Last runs of cells that use a module or what they imported from it."""
    names = {f"name:{name}" for run in kernel.runs for name in _bound_by_imports(run.source, module)}
    wanted = names | {f"module:{module}"}
    return (run for run in kernel.runs if past.is_last(run) and run.reads & wanted)


def _bound_by_imports(source: str, module: str) -> set[str]:
    tree = parse_cell(source).tree
    if tree is None or module.rpartition(".")[2] not in source:
        return set()
    found: set[str] = set()
    package, _, last = module.rpartition(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == module or alias.name.startswith(module + "."):
                    found.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module == module:
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == package:
            found.update(alias.asname or alias.name for alias in node.names if alias.name == last)
    return found
