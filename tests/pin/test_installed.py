"""Wheels made again from installed files."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import BACKEND, SmallEnvironment, uv

from jupyter_clusterbridge.pin.installed import locate, repack
from jupyter_clusterbridge.pin.wheels import Member, normalise_wheel, write_wheel


@pytest.fixture
def tool(small: SmallEnvironment, tmp_path: Path) -> Path:
    """An environment of its own with a project that has a command; gives the interpreter."""
    project = tmp_path / "cbtool"
    (project / "cbtool").mkdir(parents=True)
    (project / "cbtool" / "__init__.py").write_text(
        '"""Made for a test."""\n\n\ndef main():\n    print("works")\n'
    )
    (project / "pyproject.toml").write_text(
        f'{BACKEND}[project]\nname = "cbtool"\nversion = "1.0"\ndescription = "x"\n'
        '[project.scripts]\ncbtool = "cbtool:main"\n'
    )
    uv("venv", "-q", str(tmp_path / "venv"))
    python = tmp_path / "venv" / "bin" / "python"
    uv("pip", "install", "-q", "--python", str(python), str(project))
    return python


def test_the_wheel_installs_and_its_command_runs(tool: Path, tmp_path: Path) -> None:
    packed = repack(locate(tool, ["cbtool"])["cbtool"], tmp_path / "out")
    assert packed is not None
    wheel = packed.path
    uv("venv", "-q", str(tmp_path / "other"))
    uv("pip", "install", "-q", "--no-index", "--python", str(tmp_path / "other" / "bin" / "python"), str(wheel))
    done = subprocess.run([str(tmp_path / "other" / "bin" / "cbtool")], capture_output=True, text=True, check=True)
    assert done.stdout == "works\n"


def test_it_holds_nothing_of_the_installation(tool: Path, tmp_path: Path) -> None:
    packed = repack(locate(tool, ["cbtool"])["cbtool"], tmp_path / "out")
    assert packed is not None
    wheel = packed.path
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert not any(str(tmp_path).encode() in archive.read(name) for name in names)
    assert not {"direct_url.json", "INSTALLER", "REQUESTED"} & {name.rsplit("/", 1)[-1] for name in names}
    assert names[-1].endswith("RECORD")


def test_files_changed_by_hand_are_told(tool: Path, tmp_path: Path) -> None:
    place = locate(tool, ["cbtool"])["cbtool"]
    first = repack(place, tmp_path / "out")
    again = repack(place, tmp_path / "out")
    with (place.info.parent / "cbtool" / "__init__.py").open("a") as file:
        file.write("# a patch\n")
    patched = repack(place, tmp_path / "out")
    assert first == again
    assert first is not None
    assert patched is not None
    assert first.changed == ()
    assert patched.changed == ("cbtool/__init__.py",)
    assert patched.path.read_bytes() != first.path.read_bytes()


def test_a_missing_file_gives_no_wheel(tool: Path, tmp_path: Path) -> None:
    place = locate(tool, ["cbtool"])["cbtool"]
    (place.info.parent / "cbtool" / "__init__.py").unlink()
    assert repack(place, tmp_path / "out") is None


def test_order_times_and_modes_do_not_tell(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr(zipfile.ZipInfo("b.py", (2001, 1, 1, 0, 0, 0)), "b")
        archive.writestr(zipfile.ZipInfo("a.py", (2020, 1, 1, 0, 0, 0)), "a")
    write_wheel(tmp_path / "b.whl", {"a.py": Member(b"a"), "b.py": Member(b"b")})
    normalise_wheel(tmp_path / "a.whl", tmp_path / "c.whl")
    assert (tmp_path / "b.whl").read_bytes() == (tmp_path / "c.whl").read_bytes()


def test_programs_stay_executable(tmp_path: Path) -> None:
    write_wheel(tmp_path / "a.whl", {"tool": Member(b"x", program=True), "a.py": Member(b"x")})
    with zipfile.ZipFile(tmp_path / "a.whl") as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert modes == {"tool": 0o755, "a.py": 0o644}
