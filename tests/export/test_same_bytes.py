"""The same inputs give the same bundle byte for byte."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from recorded import write_recorded

SCRIPT = Path(__file__).with_name("write_recorded_bundle.py")


def export_as(user: str, home: Path, notebook: Path, output: Path, umask: int) -> None:
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "USER": user, "LOGNAME": user, "PYTHONHASHSEED": str(umask)}
    old = os.umask(umask)
    try:
        subprocess.run(
            [sys.executable, SCRIPT, notebook.name, output], env=environment, cwd=notebook.parent, check=True
        )
    finally:
        os.umask(old)


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(folder).as_posix(): (
            stat.S_IMODE(path.stat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *folder.rglob("*")]
    }


def test_two_folders_and_two_users_give_identical_bytes_and_modes(tmp_path: Path) -> None:
    notebook = write_recorded(tmp_path / "adalovelace" / "project")
    copy = tmp_path / "elsewhere" / "deep" / "copy"
    shutil.copytree(notebook.parent, copy)
    os.chmod(copy / "helper.py", 0o600)
    export_as("adalovelace", tmp_path / "home-ada", notebook, tmp_path / "one", 0o022)
    export_as("gracehopper", tmp_path / "home-grace", copy / notebook.name, tmp_path / "two", 0o077)
    one, two = content(tmp_path / "one"), content(tmp_path / "two")
    assert one == two
    text = b"".join(data for name, (_, data) in one.items() if not name.endswith(".whl"))
    for name in (b"adalovelace", b"gracehopper", str(tmp_path).encode(), b"file:"):
        assert name not in text
