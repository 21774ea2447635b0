"""Findings, check and engines over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.app.lint import LintOptions, lint_paths
from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.model.engine import EngineReport
from jupyter_clusterbridge.model.findings import Finding, LintReport
from jupyter_clusterbridge.model.state import CheckReport

UNSEEDED = "import numpy as np\nnp.random.rand(3)"


def test_findings_name_the_notebook_as_the_browser_knows_it(
    call: Callable[..., Any], notebook: Callable[..., Path]
) -> None:
    notebook("work/a b.ipynb", UNSEEDED)
    reply = call("findings", params={"path": "work/a b.ipynb"})
    report = from_json(LintReport, reply.body)
    assert reply.status == 200
    assert {(finding.path, finding.cell_id) for finding in report.findings} == {("work/a b.ipynb", "cell-0")}


def test_a_notebook_that_cannot_be_read_is_a_finding(call: Callable[..., Any], jp_root_dir: Path) -> None:
    (jp_root_dir / "broken.ipynb").write_text("{")
    reply = call("findings", params={"path": "broken.ipynb"})
    report = from_json(LintReport, reply.body)
    assert (reply.status, [finding.code for finding in report.findings]) == (200, ["CB001"])
    assert str(jp_root_dir) not in str(reply.body)


def test_a_notebook_without_a_journal_is_said_to_be_unrecorded(
    call: Callable[..., Any], notebook: Callable[..., Path]
) -> None:
    notebook("x.ipynb", UNSEEDED)
    report = from_json(CheckReport, call("check", params={"path": "x.ipynb"}).body)
    assert not report.recorded
    assert report.interventions == ()
    assert {finding.path for finding in report.findings} == {"x.ipynb"}


def test_a_foreign_line_in_a_journal_is_the_users_to_mend(
    call: Callable[..., Any], notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    folder = notebook("x.ipynb", "1").parent / ".clusterbridge" / "x"
    folder.mkdir(parents=True)
    (folder / "kernel.jsonl").write_text("not ours\n")
    reply = call("check", params={"path": "x.ipynb"})
    assert (reply.status, reply.body["exit_code"]) == (422, 14)
    assert "kernel.jsonl" in reply.body["message"]
    assert reply.body["hint"]
    assert str(jp_root_dir) not in reply.body["message"]


@pytest.mark.parametrize("name", ["findings", "check"])
def test_a_missing_notebook_is_not_found_in_words(call: Callable[..., Any], name: str) -> None:
    reply = call(name, params={"path": "50% off.ipynb"})
    assert (reply.status, reply.body["message"]) == (404, "There is no notebook '50% off.ipynb' on this server.")


@pytest.mark.parametrize("name", ["findings", "check"])
def test_a_request_without_a_path_says_so(call: Callable[..., Any], name: str) -> None:
    reply = call(name)
    assert reply.status == 400
    assert "path" in reply.body["message"]


def test_engines_come_with_a_reason_each(call: Callable[..., Any]) -> None:
    report = from_json(EngineReport, call("engines").body)
    assert {engine.name for engine in report.engines} >= {"local", "docker"}
    assert all(engine.reason for engine in report.engines)


SETTINGS = """[tool.clusterbridge.lint]
ignore = ["CB502"]
exclude = ["archive"]
per-file-ignores = {"demo*" = ["CB402"]}
"""
FAULTS = (
    "import numpy as np\nnp.random.rand(3)",
    "name = input()  # clusterbridge: ignore[CB501]\nopen('/home/me/x')",
    "exit()",
    "import os\nx = os.listdir()[0]",
)


@pytest.mark.parametrize("name", ["a.ipynb", "demo/a.ipynb", "archive/a.ipynb"])
def test_lint_check_and_the_browser_agree_on_settings_and_comments(
    name: str, call: Callable[..., Any], notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    (jp_root_dir / "pyproject.toml").write_text(SETTINGS)
    path = notebook(name, *FAULTS)

    def told(findings: tuple[Finding, ...]) -> set[tuple[str, int | None, int | None]]:
        return {(finding.code, finding.cell_index, finding.line) for finding in findings}

    expected = {("CB101", 0, 2), ("CB402", 1, 2), ("CB301", 3, 2)}
    expected -= {("CB402", 1, 2)} if "demo" in name else set()
    expected = set() if "archive" in name else expected
    assert told(lint_paths([path], LintOptions()).report.findings) == expected
    assert told(check_notebook_file(path).findings) == expected
    assert told(from_json(LintReport, call("findings", params={"path": name}).body).findings) == expected
    assert told(from_json(CheckReport, call("check", params={"path": name}).body).findings) == expected


@pytest.mark.parametrize("endpoint", ["findings", "check"])
def test_wrong_settings_are_said_with_file_and_key(
    endpoint: str, call: Callable[..., Any], notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    (jp_root_dir / "pyproject.toml").write_text("[tool.clusterbridge.lint]\nselct = []\n")
    notebook("x.ipynb", "1")
    reply = call(endpoint, params={"path": "x.ipynb"})
    assert reply.status == 422
    assert "pyproject.toml" in reply.body["message"]
    assert "'selct'" in reply.body["message"]
    assert str(jp_root_dir) not in reply.body["message"]
