"""SARIF 2.1.0, the form that code scanning services read.

The names of the keys are those of the OASIS standard "Static Analysis Results Interchange Format (SARIF)
Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from jupyter_clusterbridge.lint.formats.github import place_in_cell
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import Rule, page_of
from jupyter_clusterbridge.model.findings import Confidence, Finding, LintReport, Severity
from jupyter_clusterbridge.model.version import VERSION

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISIONS = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
_Object = dict[str, object]


def sarif_document(report: LintReport, root: Path) -> _Object:
    """The report as one SARIF log with one run.

    Args:
        report: findings with their ``file_line``.
        root: the folder that paths of files are relative to, as a service needs them: the checkout.
    """
    rules = all_rules()
    places = {rule.code: place for place, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ClusterBridge",
                        "version": VERSION,
                        "semanticVersion": VERSION,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, places, root, seen) for finding in report.findings],
            }
        ],
    }


def _rule(rule: type[Rule]) -> _Object:
    page = page_of(rule)
    why = page.sections.get("Why it matters on a cluster", "")
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": " ".join(page.sections.get("What it does", "").split()) or page.summary},
        "help": {"text": page.remedy or page.summary, "markdown": f"{why}\n\n**Remedy.** {page.remedy}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"precision": _PRECISIONS[rule.confidence], "problem.severity": _problem(rule.severity)},
    }


def _problem(severity: Severity) -> str:
    return "recommendation" if severity is Severity.INFO else severity.value


def _result(finding: Finding, places: dict[str, int], root: Path, seen: Counter[str]) -> _Object:
    physical: _Object = {"artifactLocation": _artifact(finding.path, root)}
    if finding.file_line is not None:
        physical["region"] = {"startLine": finding.file_line}
    location: _Object = {"physicalLocation": physical}
    if finding.cell_index is not None:
        cell: _Object = {"name": f"cell {finding.cell_index}", "kind": "module"}
        location["logicalLocations"] = [cell]
    return {
        "ruleId": finding.code,
        "ruleIndex": places[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{place_in_cell(finding)}{finding.message}. {finding.remedy}"},
        "locations": [location],
        "partialFingerprints": {"clusterbridge/v1": _fingerprint(finding, root, seen)},
    }


def _artifact(path: str, root: Path) -> _Object:
    absolute = Path(os.path.abspath(path))
    if absolute.is_relative_to(root):
        return {"uri": quote(absolute.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}
    return {"uri": absolute.as_uri()}


def _fingerprint(finding: Finding, root: Path, seen: Counter[str]) -> str:
    """The same finding has the same one after lines and cells above it have changed."""
    uri = str(_artifact(finding.path, root)["uri"])
    parts: Sequence[str] = (uri, finding.code, finding.message)
    text = "\n".join(parts)
    seen[text] += 1
    return hashlib.sha256(f"{text}\n{seen[text]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
