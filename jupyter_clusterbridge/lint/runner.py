"""Runs rules over a notebook."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jupyter_clusterbridge.lint.bindings import Handler
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.dispatch import CallDispatch, Plan, plan_for
from jupyter_clusterbridge.lint.magics import note_magic
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import Rule, page_of
from jupyter_clusterbridge.lint.walk import Handlers, walk_cell, with_bindings
from jupyter_clusterbridge.model.errors import ClusterBridgeError, NotPython
from jupyter_clusterbridge.model.findings import Finding, Severity
from jupyter_clusterbridge.model.notebook import Notebook


def _overrides(rule: Rule, method: str) -> bool:
    return getattr(type(rule), method) is not getattr(Rule, method)


def _handlers(plan: Plan, rules: Mapping[int, Rule]) -> Handlers:
    """What the walk calls for each type of node."""
    handlers: dict[type[ast.AST], list[Handler]] = {}
    for place, rule in rules.items():
        for kind, method in plan.visits[place]:
            handlers.setdefault(kind, []).append(getattr(rule, method))
    calls = CallDispatch(plan, rules)
    if calls:
        handlers.setdefault(ast.Call, []).append(calls.visit)
    return with_bindings(handlers)


def lint_notebook(notebook: Notebook, chosen: Sequence[type[Rule]] | None = None) -> tuple[Finding, ...]:
    """Run rules over a notebook that was read; every rule unless some are chosen.

    Returns:
        The findings in the order of the cells, the lines and the codes.
    """
    context = NotebookContext.of(notebook)
    plan = plan_for(all_rules() if chosen is None else tuple(chosen))
    by_place = {place: plan.rules[place](context) for place in plan.with_place(context.source)}
    rules = list(by_place.values())
    alive = _handlers(plan, by_place)
    dead = _handlers(plan, {place: rule for place, rule in by_place.items() if rule.in_dead_code})
    begin = [rule.begin_cell for rule in rules if _overrides(rule, "begin_cell")]
    magic_handlers = [rule.visit_magic for rule in rules if _overrides(rule, "visit_magic")]
    end = [rule.end_cell for rule in rules if _overrides(rule, "end_cell")]
    for cell in context.cells:
        for hook in begin:
            hook(cell)
        for magic in cell.magics:
            note_magic(magic, cell)
            for magic_hook in magic_handlers:
                magic_hook(magic, cell)
        walk_cell(cell, alive, dead)
        for hook in end:
            hook(cell)
        _leave_cell(cell)
    for rule in rules:
        rule.end_notebook()
    context.cells.clear()  # they know the context too; without this circle all memory is free at once
    return sort_findings(finding for rule in rules for finding in rule.findings)


def _leave_cell(cell: CellContext) -> None:
    for name in cell.binds:
        cell.notebook.defined[name] = cell.cell.index


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings by file, cell, line and code."""
    return tuple(
        sorted(
            findings,
            key=lambda f: (f.path, -1 if f.cell_index is None else f.cell_index, f.line or 0, f.code, f.message),
        )
    )


def unreadable(path: Path, error: ClusterBridgeError) -> Finding:
    """The finding for a file that is no notebook that we can read."""
    rule = next(rule for rule in all_rules() if rule.code == "CB001")
    return Finding(
        path=str(path),
        code=rule.code,
        name=rule.name,
        cell_id=None,
        cell_index=None,
        line=None,
        # another language is no fault of the file, and a folder may hold any
        severity=Severity.INFO if isinstance(error, NotPython) else rule.severity,
        confidence=rule.confidence,
        message=error.message,
        remedy=error.next_step or page_of(rule).remedy,
    )
