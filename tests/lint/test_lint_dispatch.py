"""The framework's own promises to rules: which rules take part, and which calls they get."""

from __future__ import annotations

import ast

import pytest
from lint_kit import notebook_of

from jupyter_clusterbridge.lint import runner
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.dispatch import check_declaration
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.walk import walk_cell, with_bindings
from jupyter_clusterbridge.model.findings import Edit, Finding, Fix


class Probe(Rule):
    """Reports each call that it gets.

    ## Remedy

    None.
    """

    code = "CB999"
    name = "probe"

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        self.report(cell, node, str(cell.callee))


def found(rule: type[Rule], text: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, str]]:
    """Line and message of what one rule alone reports."""
    monkeypatch.setattr(runner, "all_rules", lambda: (rule,))
    return [(finding.line, finding.message) for finding in runner.lint_notebook(notebook_of(text))]


def probe(**declared: object) -> type[Rule]:
    return type("Declared", (Probe,), declared)


def test_a_rule_gets_the_calls_of_a_qualified_name_whatever_the_import(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = probe(calls=frozenset({"torch.compile"}))
    text = "import torch as t\nfrom torch import compile as c\nt.compile(m)\nc(m)\nt.save(m)\ncompile(m)"
    assert found(rule, text, monkeypatch) == [(3, "torch.compile"), (4, "torch.compile")]


def test_a_rule_gets_all_calls_below_a_name_and_none_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = probe(calls=frozenset({"sklearn.*"}))
    text = (
        "import sklearn.svm, sklearnex\nfrom sklearn.svm import SVC\nsklearn.svm.SVC()\nSVC()\nsklearnex.patch()"
    )
    assert found(rule, text, monkeypatch) == [(3, "sklearn.svm.SVC"), (4, "sklearn.svm.SVC")]


def test_a_rule_gets_methods_by_their_last_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = probe(methods=frozenset({"backward"}))
    text = "loss = f()\nloss.backward()\nf()[0].backward()\nbackward()\nloss.forward()"
    assert [line for line, _ in found(rule, text, monkeypatch)] == [2, 3, 4]


def test_a_call_that_matches_twice_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = probe(calls=frozenset({"torch.*", "torch.save"}), methods=frozenset({"save"}))
    assert found(rule, "import torch\ntorch.save(1)", monkeypatch) == [(2, "torch.save")]


@pytest.mark.parametrize(("words", "taking_part"), [({"other", "tensor"}, True), ({"other"}, False), ((), True)])
def test_a_rule_takes_part_where_one_of_its_words_occurs(
    words: set[str], taking_part: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = probe(words=frozenset(words), methods=frozenset({"f"}))
    assert bool(found(rule, "# a tensor\n# %%\nf()", monkeypatch)) is taking_part


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({}, "both"),
        ({"calls": frozenset({"f"}), "visit_call": Rule.visit_call}, "both"),
        ({"calls": frozenset({"torch.*.x"})}, "star"),
    ],
    ids=["no-names", "no-method", "star"],
)
def test_a_rule_that_declares_its_calls_wrongly_is_refused(declared: dict[str, object], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        check_declaration(probe(**declared))


@pytest.mark.parametrize(
    "text",
    [
        "if False:\n    f()",
        "if 0:\n    f()",
        "while False:\n    f()",
        "if None:\n    if True:\n        f()",
        "def g():\n    if False:\n        f()",
        "if False:\n    def g():\n        f()",
    ],
)
def test_what_never_runs_is_for_rules_that_ask_for_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = frozenset({"f"})
    assert found(probe(methods=methods), text, monkeypatch) == []
    assert len(found(probe(methods=methods, in_dead_code=True), text, monkeypatch)) == 1


def test_the_other_branch_of_what_never_runs_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = probe(methods=frozenset({"f"}))
    text = "if False:\n    import os as f\n    f()\nelse:\n    f()\nf()"
    assert [line for line, _ in found(rule, text, monkeypatch)] == [5, 6]


def test_what_never_runs_binds_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    context = NotebookContext.of(notebook_of("if False:\n    x = 1\n    def f(): pass\ny = 2"))
    walk_cell(context.cells[0], with_bindings({}), with_bindings({}))
    assert set(context.cells[0].binds) == {"y"}
    assert context.functions == {}


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("def f(): pass", set()),
        ("f()\n# %%\ndef f(): pass", {"f"}),
        ("def f(): g()\ndef g(): pass\ndef h(): f()\nf()", {"f", "g"}),
        ("def f(): pass\nif False:\n    f()", set()),
        ("def f(): pass\nif DEBUG:\n    f()", {"f"}),
        ("def f(): pass\nframe.apply(f)", {"f"}),
        ("def f(): pass\nDataLoader(d, worker_init_fn=f)", set()),
        ("def f(): pass\n@f\ndef g(): pass", {"f"}),
        ("def f(): pass\ndef g(x=f()): pass", {"f"}),
        ("class A:\n    def __init__(self):\n        f()\ndef f(): pass\nA().run()", {"A", "f"}),
        ("class A:\n    def m(self): f()\ndef f(): pass", set()),
        ("class A:\n    x = f()\ndef f(): pass", {"f"}),
        ("def f():\n    f()", set()),
        ("x = [f(i) for i in range(3)]\ndef f(i):\n    def g(): pass\n    return g()", {"f", "g"}),
    ],
)
def test_functions_that_a_run_reaches_are_known_before_the_walk(text: str, called: set[str]) -> None:
    assert NotebookContext.of(notebook_of(text)).called_functions == called


def test_a_fix_travels_with_its_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    fix = Fix("Sort the listing", (Edit(1, 0, 1, 0, "sorted("),))

    class Fixing(Probe):
        """Fixes."""

        calls = frozenset({"builtins.input"})

        def visit_call(self, node: ast.Call, cell: CellContext) -> None:
            self.report(cell, node, "x", remedy="y", fix=fix)

    monkeypatch.setattr(runner, "all_rules", lambda: (Fixing,))
    findings: tuple[Finding, ...] = runner.lint_notebook(notebook_of("input()"))
    assert [finding.fix for finding in findings] == [fix]
