"""The exact text of each rule's findings on its bad example.

Change the files by ``pytest tests/lint --update-golden`` only; a missing one fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_kit import notebook_of

from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import MARK, Rule, page_of
from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.model.canonical import pretty_json
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.findings import LintReport

SNAPSHOTS = Path(__file__).parent / "snapshots"
RULES = [rule for rule in all_rules() if rule.code != "CB001"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_findings_on_the_bad_example_are_word_for_word_these(rule: type[Rule], update_golden: bool) -> None:
    text = "".join(text for _, text in page_of(rule).examples("Bad example"))
    findings = lint_notebook(notebook_of(MARK.sub("", text)))
    report = LintReport(tuple(finding for finding in findings if finding.code == rule.code))
    path = SNAPSHOTS / f"{rule.code}.json"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pretty_json(to_json(report)))
    assert path.is_file(), f"no snapshot {path.name}; write it with --update-golden and read it"
    assert path.read_bytes() == pretty_json(to_json(report))


def test_there_is_no_snapshot_without_a_rule() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == {rule.code for rule in RULES}
