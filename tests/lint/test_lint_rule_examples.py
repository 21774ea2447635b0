"""Every rule has a page, and its examples say the truth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lint_kit import Lint, split_cells

from jupyter_clusterbridge.app.lint import lint_notebooks
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import MARK, SECTIONS, Rule, page_of

RULES = all_rules()
IN_CELLS = [rule for rule in RULES if rule.code != "CB001"]


CAUSES_APART = {
    ("CB101", "CB207"), ("CB101", "CB603"), ("CB103", "CB517"), ("CB115", "CB403"), ("CB204", "CB603"),
    ("CB205", "CB403"), ("CB306", "CB601"), ("CB403", "CB513"), ("CB517", "CB601"), ("CB603", "CB610"),
    ("CB703", "CB709"),
}  # fmt: skip
"""Rules that report one line of an example for two causes, each with a remedy of its own."""


def by_code(rule: type[Rule]) -> str:
    return rule.code


def example(rule: type[Rule], section: str) -> str:
    return "".join(text for _, text in page_of(rule).examples(section))


def marked_lines(text: str) -> list[tuple[int, int]]:
    return [
        (index, number)
        for index, cell in enumerate(split_cells(text))
        for number, line in enumerate(cell.split("\n"), start=1)
        if MARK.search(line)
    ]


def test_there_are_rules_in_each_family() -> None:
    assert len([rule for rule in RULES if not rule.code.startswith("CB0")]) >= 110
    assert {rule.code[:3] for rule in RULES} == {f"CB{family}" for family in range(8)}


@pytest.mark.parametrize("rule", RULES, ids=by_code)
def test_a_rule_has_a_code_a_name_and_a_whole_page(rule: type[Rule]) -> None:
    page = page_of(rule)
    assert re.fullmatch(r"CB[0-7]\d\d", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert rule.__module__.rpartition(".")[2] == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert page.summary.endswith(".")
    assert tuple(page.sections) == SECTIONS
    assert all(page.sections.values())


def test_a_name_that_one_platform_has_is_told_by_one_rule(lint: Lint) -> None:
    assert [finding.code for finding in lint("dbutils.fs.ls('a')")] == ["CB408"]


@pytest.mark.parametrize("rule", IN_CELLS, ids=by_code)
def test_no_two_rules_tell_one_cause_of_a_bad_line(rule: type[Rule], lint: Lint) -> None:
    text = example(rule, "Bad example")
    # examples leave names undefined, for brevity
    found = [finding for finding in lint(MARK.sub("", text)) if finding.code != "CB702"]
    at = {(one.cell_index, one.line): {other.code for other in found if
          (other.cell_index, other.line) == (one.cell_index, one.line)} for one in found}  # fmt: skip
    assert {tuple(sorted(codes)) for codes in at.values() if len(codes) > 1} <= CAUSES_APART


@pytest.mark.parametrize("rule", IN_CELLS, ids=by_code)
def test_the_bad_example_gives_the_finding_on_the_marked_lines(rule: type[Rule], lint: Lint) -> None:
    text = example(rule, "Bad example")
    found = [finding for finding in lint(MARK.sub("", text)) if finding.code == rule.code]
    assert marked_lines(text)
    assert [(finding.cell_index, finding.line) for finding in found] == marked_lines(text)


@pytest.mark.parametrize("rule", IN_CELLS, ids=by_code)
def test_the_good_example_gives_no_such_finding(rule: type[Rule], lint: Lint) -> None:
    assert [finding for finding in lint(example(rule, "Good example")) if finding.code == rule.code] == []


@pytest.mark.parametrize("rule", IN_CELLS, ids=by_code)
def test_a_comment_silences_the_finding_on_its_line(rule: type[Rule], lint: Lint) -> None:
    text = MARK.sub(f"  # clusterbridge: ignore[{rule.code}]", example(rule, "Bad example"))
    assert [finding for finding in lint(text) if finding.code == rule.code] == []


@pytest.mark.parametrize(("section", "codes"), [("Bad example", ["CB001"]), ("Good example", [])])
def test_the_examples_of_unreadable_notebooks_hold(section: str, codes: list[str], tmp_path: Path) -> None:
    rule = next(rule for rule in RULES if rule.code == "CB001")
    path = tmp_path / "notebook.ipynb"
    path.write_text(example(rule, section))
    assert [finding.code for finding in lint_notebooks([path]).findings] == codes
