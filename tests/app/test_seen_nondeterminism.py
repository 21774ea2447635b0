"""Operations that torch warned of while the cells ran, among the findings of check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.model.events import CellEnd, CellStart, KernelStart, NondeterminismSeen
from jupyter_clusterbridge.model.findings import Confidence, Finding, Severity
from jupyter_clusterbridge.runtime.journal import JournalWriter, journal_folder

IMPORT = "import torch"
ADD = "total = torch.zeros(2)\ntotal.index_reduce_(0, index, values, 'prod')"
CALL = "model(x)"


def notebook(folder: Path, *sources: str) -> Path:
    path = folder / "work.ipynb"
    cells = [
        {"cell_type": "code", "id": f"c{number}", "source": source, "metadata": {}, "outputs": []}
        for number, source in enumerate(sources)
    ]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    return path


def record(path: Path, role: str, *runs: tuple[str, str, list[tuple[int | None, str]]]) -> None:
    writer = JournalWriter(journal_folder(path) / f"{role}.jsonl", lambda error: pytest.fail(str(error)))
    writer.write(KernelStart("k", role, "3.11.7", "2026"))
    for run, (cell, source, seen) in enumerate(runs, start=1):
        writer.write(CellStart(run, cell, source, "2026"))
        for line, operation in seen:
            writer.write(NondeterminismSeen(run, line, operation))
        writer.write(CellEnd(run, "ok", "2026", 0.1))
    writer.close()


def found(path: Path) -> list[Finding]:
    return [finding for finding in check_notebook_file(path).findings if finding.code == "CB201"]


def test_what_only_the_run_shows_is_a_finding_of_its_own(tmp_path: Path) -> None:
    path = notebook(tmp_path, IMPORT, CALL)
    record(path, "notebook", ("c0", IMPORT, []), ("c1", CALL, [(1, "upsample_x"), (1, "upsample_x")]))
    (finding,) = found(path)
    assert (finding.cell_id, finding.line) == ("c1", 1)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.HIGH)
    assert "`upsample_x`" in finding.message
    assert "seen at run time" in finding.message
    assert "use_deterministic_algorithms" in finding.remedy


def test_what_lint_has_found_becomes_certain_and_is_not_said_twice(tmp_path: Path) -> None:
    path = notebook(tmp_path, IMPORT, ADD)
    (before,) = found(path)
    record(path, "notebook", ("c0", IMPORT, []), ("c1", ADD, [(2, "index_reduce_cuda"), (2, "other")]))
    after = found(path)
    assert [(one.line, one.confidence, one.severity) for one in after] == [(2, Confidence.HIGH, Severity.WARNING)]
    assert after[0].message.startswith(before.message)
    assert "`index_reduce_cuda`" in after[0].message


def test_an_edited_cell_a_silenced_line_and_a_jobs_journal_say_nothing(tmp_path: Path) -> None:
    silenced = "model(x)  # clusterbridge: ignore[CB201]"
    path = notebook(tmp_path, IMPORT, "model(x + 1)", silenced, "model(z)")
    record(path, "notebook", ("c1", CALL, [(1, "a")]), ("c2", silenced, [(1, "b")]))
    record(path, "job", ("c3", "model(z)", [(1, "c")]))
    assert found(path) == []


def test_only_the_last_run_of_a_cell_counts(tmp_path: Path) -> None:
    path = notebook(tmp_path, IMPORT, CALL)
    record(path, "notebook", ("c1", CALL, [(1, "a")]), ("c1", CALL, []))
    assert found(path) == []


def test_a_project_without_the_rule_hears_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.clusterbridge.lint]\nignore = ["CB201"]\n')
    path = notebook(tmp_path, IMPORT, CALL)
    record(path, "notebook", ("c1", CALL, [(1, "a")]))
    assert found(path) == []
