"""Scripted sessions in real kernels: the recorder says what was written down beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STATE = Path(__file__).parents[2] / "benchmarks" / "state"
CLEAN = (
    "comments-and-formatting-edited",
    "explored-then-restarted-and-run-all",
    "setting-tried-and-all-below-run",
    "list-built-in-its-own-cell",
    "async-calls",
    "files-written-and-read",
    "swapped-and-unpacked",
    "deleted-scratch-cells",
    "shell-cells",
)


@pytest.mark.parametrize("chosen", [("structure", "no-ids"), ("failure",), CLEAN], ids=lambda chosen: chosen[0])
def test_each_session_is_answered_as_written(chosen):
    command = [sys.executable, str(STATE), "--json", "--only", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.stdout, done.stderr
    sessions = json.loads(done.stdout)["sessions"]
    assert len(sessions) >= 9
    wrong = {one["name"]: one["missed"] + one["alarms"] for one in sessions if one["missed"] or one["alarms"]}
    assert wrong == {}
