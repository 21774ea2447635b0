"""Arguments that look right and are not end in one message too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from jupyter_clusterbridge.cli.group import cli


@pytest.mark.parametrize(
    ("option", "value", "exit_code"),
    [
        ("--cpus", "nan", 2),
        ("--cpus", "inf", 2),
        ("--cpus", "0", 2),
        ("--memory", "", 29),
        ("--shm-size", "", 29),
        ("--time-limit", "", 29),
        ("--time-limit", "-5", 29),
    ],
)
def test_a_limit_that_is_none_is_refused(tmp_path: Path, option: str, value: str, exit_code: int) -> None:
    result = CliRunner().invoke(cli, ["run", str(tmp_path), option, value])
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (exit_code, True)


def test_a_bundle_is_no_run_to_compare_with(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text("{}")
    result = CliRunner().invoke(cli, ["compare", str(tmp_path), str(tmp_path)])
    assert result.exit_code == 24
    assert "is a bundle, not a run of one" in result.output
    assert "clusterbridge run" in result.output


def test_a_full_disk_behind_standard_output_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jupyter_clusterbridge", "lint", str(tmp_path / "none.ipynb")]
    for form in ("text", "json"):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*command, "--format", form], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 16
        assert done.stderr.startswith("error: the result cannot be printed (No space left on device)\n  next: ")
        assert done.stderr.count("\n") == 2
