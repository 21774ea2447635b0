"""The slim wheel of the runtime."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from jupyter_clusterbridge.export.runtime_wheel import REQUIRES, build_runtime_wheel


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        one = build_runtime_wheel(tmp_path / "a")
    finally:
        os.umask(old)
    two = build_runtime_wheel(tmp_path / "b")
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_it_holds_the_runtime_and_no_other_room(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build_runtime_wheel(tmp_path)).namelist()
    tops = {name.split("/")[1] for name in names if name.startswith("jupyter_clusterbridge/")}
    assert tops == {"__init__.py", "py.typed", "model", "runtime"}
    assert "clusterbridge.py" in names


def test_its_record_is_right(tmp_path: Path) -> None:
    archive = zipfile.ZipFile(build_runtime_wheel(tmp_path))
    record = next(name for name in archive.namelist() if name.endswith("RECORD"))
    rows = list(csv.reader(archive.read(record).decode().splitlines()))
    assert [row[0] for row in rows] == archive.namelist()
    for name, digest, size in rows[:-1]:
        data = archive.read(name)
        expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, int(size)) == (f"sha256={expected}", len(data))


def test_pip_installs_it_and_the_installed_runtime_imports(tmp_path: Path) -> None:
    wheel = build_runtime_wheel(tmp_path)
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", target, wheel],
        check=True,
    )
    code = "import clusterbridge as cb; cb.metric('a', 1.0); print(cb.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(target)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(target))


def test_it_can_be_imported_from_the_file_itself(tmp_path: Path) -> None:
    wheel = build_runtime_wheel(tmp_path)
    code = "from jupyter_clusterbridge.runtime import bundle; print(bundle.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(wheel)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(wheel))


def test_it_requires_what_the_lock_always_holds() -> None:
    from jupyter_clusterbridge.pin.selection import RUNTIME_NEEDS

    assert set(REQUIRES) == set(RUNTIME_NEEDS)
