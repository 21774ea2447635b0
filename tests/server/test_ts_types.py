"""The front end's types are those of the Python classes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_typescript_interfaces_are_current() -> None:
    check = subprocess.run(
        [sys.executable, str(ROOT / "dev" / "gen_ts_types"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr
