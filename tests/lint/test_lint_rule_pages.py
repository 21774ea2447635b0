"""The pages under docs/rules are those of the docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_pages_of_the_rules_are_current(repository: Path) -> None:
    script = repository / "dev" / "gen_rule_docs"
    check = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr
