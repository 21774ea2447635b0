"""Schemas and pages made from the model are current, and documents keep to their schema."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.canonical import canonical_json
from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.engine import EngineReport
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import ERRORS
from jupyter_clusterbridge.model.events import EVENTS, JOURNAL_SCHEMA
from jupyter_clusterbridge.model.findings import LintReport
from jupyter_clusterbridge.model.lock import Lock
from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.run import GuardTrip, JobExit, RunStatus
from jupyter_clusterbridge.model.state import CheckReport
from jupyter_clusterbridge.model.verdict import Comparison

jsonschema = pytest.importorskip("jsonschema")

DOCUMENTS: dict[str, type] = {
    "bundle": BundleManifest,
    "check": CheckReport,
    "compare": Comparison,
    "engines": EngineReport,
    "environment": Environment,
    "guards": GuardTrip,
    "lint": LintReport,
    "lock": Lock,
    "record": RunRecord,
    "status": RunStatus,
}
FEW = settings(max_examples=6, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def schema_of(name: str, repository: Path) -> dict[str, object]:
    schema = json.loads((repository / "docs" / "schemas" / f"{name}.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


@pytest.mark.parametrize("script", ["gen_schemas", "gen_docs"])
def test_what_a_script_makes_is_current(script: str, repository: Path) -> None:
    command = [sys.executable, str(repository / "dev" / script), "--check"]
    check = subprocess.run(command, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr


def test_there_is_a_schema_for_each_document(repository: Path) -> None:
    names = {path.stem for path in (repository / "docs" / "schemas").glob("*.json")}
    assert names == {*DOCUMENTS, "journal"}


@pytest.mark.parametrize("name", DOCUMENTS)
@FEW
@given(data=st.data())
def test_any_document_keeps_to_its_schema(name: str, data: st.DataObject, repository: Path) -> None:
    document = data.draw(st.from_type(DOCUMENTS[name]))
    plain = json.loads(canonical_json(to_json(document)))
    jsonschema.validate(plain, schema_of(name, repository), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", DOCUMENTS)
@FEW
@given(data=st.data())
def test_any_document_survives_writing_and_reading(name: str, data: st.DataObject) -> None:
    written = canonical_json(to_json(data.draw(st.from_type(DOCUMENTS[name]))))
    assert canonical_json(to_json(from_json(DOCUMENTS[name], json.loads(written)))) == written


@pytest.mark.parametrize("event", EVENTS.values(), ids=list(EVENTS))
@FEW
@given(data=st.data())
def test_any_line_of_a_journal_keeps_to_its_schema(event: type, data: st.DataObject, repository: Path) -> None:
    plain = {"event": event.EVENT, **to_json(data.draw(st.from_type(event)))}  # type: ignore[attr-defined,dict-item]
    if event.EVENT == "kernel_start":  # type: ignore[attr-defined]
        plain["schema"] = JOURNAL_SCHEMA
    line = json.loads(canonical_json(plain))
    jsonschema.validate(line, schema_of("journal", repository), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "line", [{"event": "other"}, {}, {"event": "kernel_end"}, {"event": "file_write", "run": "1", "path": "x"}]
)
def test_a_foreign_line_does_not_keep_to_the_schema_of_journals(line: dict[str, object], repository: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema_of("journal", repository))
    assert not validator.is_valid(line)


def test_each_error_has_a_code_of_its_own_and_says_what_next() -> None:
    codes = [error.exit_code for error in ERRORS]
    assert len(set(codes)) == len(codes)
    assert set(codes).isdisjoint({0, 1, 2, 3, 4, 9, 141})
    assert set(codes).isdisjoint(int(end) for end in JobExit)
    assert [error for error in ERRORS if not error.hint or not error.__doc__] == []


def test_each_end_of_a_job_is_explained(repository: Path) -> None:
    notes = runpy.run_path(str(repository / "dev" / "gen_docs"))["job_exit_notes"]()
    assert set(notes) == {end.name for end in JobExit}
