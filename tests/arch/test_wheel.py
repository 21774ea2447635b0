"""What a built wheel and sdist hold, built as a user builds them, from a copy of this tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import jupyter_clusterbridge

ROOT = Path(__file__).resolve().parents[2]
LAB = "share/jupyter/labextensions/jupyter-clusterbridge/"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def copy_of_the_tree(target: Path) -> Path:
    """The tree as git would commit it, with the installed npm packages linked in to save a minute."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listing.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    if (ROOT / "node_modules").is_dir():
        (target / "node_modules").symlink_to(ROOT / "node_modules")
    return target


def leave_a_development_build(tree: Path) -> None:
    static = tree / "jupyter_clusterbridge" / "_lab" / "static"
    static.mkdir(parents=True)
    (static.parent / "package.json").write_text("{}")
    for name in ("style.js", "remoteEntry.dev.js", "remoteEntry.dev.js.map"):
        (static / name).write_text("")


def without_node(tmp: Path) -> dict[str, str]:
    """An environment whose PATH has what a build needs, Node.js apart."""
    tools = tmp / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("git", "sh", "uname"):
        found = shutil.which(name)
        if found and not (tools / name).exists():
            (tools / name).symlink_to(found)
    return {**os.environ, "PATH": str(tools)}


def pip_wheel(source: Path, out: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(out), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env or dict(os.environ))


def build_sdist(tree: Path, out: Path) -> Path:
    """The sdist, by the backend that the tree names, in an environment that pip makes for it."""
    code = "import sys, hatchling.build as b, os; os.chdir(sys.argv[1]); print(b.build_sdist(sys.argv[2]))"
    env = out / "env"
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    python = str(env / "bin" / "python")
    needs = ["hatchling>=1.27", "hatch-jupyter-builder>=0.9.1", "jupyter-builder>=1.3,<2"]
    subprocess.run([python, "-m", "pip", "install", "-q", *needs], check=True, capture_output=True)
    environment = {**os.environ, "PATH": f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    made = subprocess.run(
        [python, "-c", code, str(tree), str(out)], capture_output=True, text=True, check=False, env=environment
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return next(out.glob("*.tar.gz"))


def names_of(wheel: Path) -> set[str]:
    """Names in a wheel, with those of data files cut to where they are installed."""
    with zipfile.ZipFile(wheel) as archive:
        return {name.split(".data/data/", 1)[-1] for name in archive.namelist()}


def lab_files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if LAB in name]
        return {name.split(LAB, 1)[1]: archive.read(name) for name in names}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("node") is None:
        if os.environ.get("CLUSTERBRIDGE_CI"):
            pytest.fail("Node.js is missing, so the Lab part cannot be built")
        pytest.skip("Node.js is missing, so the Lab part cannot be built")
    copy = copy_of_the_tree(tmp_path_factory.mktemp("tree"))
    leave_a_development_build(copy)
    return copy


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    made = pip_wheel(tree, out)
    assert made.returncode == 0, made.stdout + made.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def sdist(wheel: Path, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sdist(tree, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def bare_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_tree(tmp_path_factory.mktemp("bare"))


def test_the_wheel_holds_the_lab_part_the_server_setting_and_the_licence(wheel: Path) -> None:
    names = names_of(wheel)
    entry = json.loads(lab_files(wheel)["package.json"])["jupyterlab"]["_build"]["load"]
    wanted = {
        "clusterbridge.py",
        "jupyter_clusterbridge/__init__.py",
        "jupyter_clusterbridge/py.typed",
        "etc/jupyter/jupyter_server_config.d/jupyter_clusterbridge.json",
        f"{LAB}install.json",
        f"{LAB}schemas/jupyter-clusterbridge/export.json",
        f"{LAB}{entry}",
    }
    assert wanted <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_wheel_holds_no_development_build_even_when_one_lay_in_the_tree(wheel: Path) -> None:
    assert [name for name in names_of(wheel) if name.endswith((".map", "build_log.json", ".dev.js"))] == []


def test_the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names_of(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "clusterbridge.py", "jupyter_clusterbridge", "etc", "share",
    }  # fmt: skip
    assert not any(name.startswith("jupyter_clusterbridge/_lab/") for name in names_of(wheel))


def test_an_sdist_builds_the_same_lab_part_without_node(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    made = pip_wheel(sdist, tmp_path / "out", without_node(tmp_path))
    assert made.returncode == 0, made.stdout + made.stderr
    assert lab_files(next((tmp_path / "out").glob("*.whl"))) == lab_files(wheel)


def test_the_sdist_leaves_installed_packages_and_machine_files_out(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops.isdisjoint({"node_modules", ".venv", "lib", ".ci", ".git"})
    assert {"labextension", "jupyter_clusterbridge", "yarn.lock", "package.json", "hatch_build.py"} <= tops


def test_without_node_the_build_ends_in_one_line_that_says_what_to_do(bare_tree: Path, tmp_path: Path) -> None:
    made = pip_wheel(bare_tree, tmp_path, without_node(tmp_path))
    output = made.stdout + made.stderr
    assert made.returncode != 0
    assert output.count("SKIP_JUPYTER_BUILDER=1 pip install .") == 1, output
    assert "Traceback" not in output


def test_with_the_variable_the_python_part_is_built_without_node(bare_tree: Path, tmp_path: Path) -> None:
    made = pip_wheel(bare_tree, tmp_path, {**without_node(tmp_path), "SKIP_JUPYTER_BUILDER": "1"})
    assert made.returncode == 0, made.stdout + made.stderr
    names = names_of(next(tmp_path.glob("*.whl")))
    assert "jupyter_clusterbridge/__init__.py" in names
    assert f"{LAB}package.json" not in names


def installed_in_an_environment_of_its_own(wheel: Path, tmp: Path) -> Path:
    """A fresh virtual environment with the wheel; Jupyter itself is borrowed from this one."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp / "env")], check=True)
    python = tmp / "env" / "bin" / "python"
    site = next((tmp / "env").glob("lib/python3*/site-packages"))
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--ignore-installed", str(wheel)]
    subprocess.run(install, check=True)
    return python


def listed_by_jupyter(python: Path, *arguments: str) -> str:
    scratch = python.parents[2]
    env = {**os.environ, "JUPYTER_CONFIG_DIR": str(scratch / "c"), "JUPYTER_DATA_DIR": str(scratch / "d")}
    command = [str(python), "-m", *arguments, "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return re.sub(r"\x1b\[\d*m", "", listed.stdout + listed.stderr)


def test_jupyter_lists_both_extensions_as_enabled_after_an_install(wheel: Path, tmp_path: Path) -> None:
    python = installed_in_an_environment_of_its_own(wheel, tmp_path)
    version = jupyter_clusterbridge.__version__
    lab = listed_by_jupyter(python, "jupyterlab.labextensions")
    assert re.search(rf"jupyter-clusterbridge v{version} enabled OK \(python, jupyter-clusterbridge\)", lab), lab
    server = listed_by_jupyter(python, "jupyter_server.extension.serverextension")
    assert "jupyter_clusterbridge enabled" in server, server
    assert f"jupyter_clusterbridge {version} OK" in server, server


def test_the_lab_part_has_the_version_of_the_package() -> None:
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == jupyter_clusterbridge.__version__


def test_the_lock_of_the_lab_part_names_no_host() -> None:
    lock = (ROOT / "yarn.lock").read_text(encoding="utf-8")
    assert "://" not in "".join(line for line in lock.splitlines() if not line.startswith("#"))
