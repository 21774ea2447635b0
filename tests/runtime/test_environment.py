"""The environment as a live process sees it, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.codec import from_json, to_json
from jupyter_clusterbridge.model.environment import Environment, SourceKind
from jupyter_clusterbridge.runtime.environment import loaded_fingerprint, observe_environment

_PREAMBLE = """
import json, sys
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.runtime.environment import observe_environment, loaded_fingerprint
def seen(name):
    return next((to_json(d) for d in observe_environment().distributions if d.name == name), None)
"""


def run(code: str, repository: Path, site: Path | None = None, **variables: str) -> dict[str, object]:
    """Run code in a fresh interpreter that leaves its answer in ``out``."""
    paths = [str(repository), *([str(site)] if site else [])]
    script = f"import sys; sys.path[:0] = {paths!r}\n{_PREAMBLE}\n{code}\nprint('ANSWER' + json.dumps(out))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    answer = next(line for line in done.stdout.splitlines() if line.startswith("ANSWER"))
    found = json.loads(answer.removeprefix("ANSWER"))
    assert isinstance(found, dict)
    return found


def add_distribution(site: Path, name: str, version: str, *, requires: str = "", direct_url: str = "") -> None:
    """Lay an installed distribution of one module into a folder."""
    site.mkdir(exist_ok=True)
    for old in site.glob(f"{name}-*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    (site / f"{name}.py").write_text(f"__version__ = {version!r}\n")
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\nText\n")
    (info / "RECORD").write_text(f"{name}.py,,\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n")
    if direct_url:
        (info / "direct_url.json").write_text(direct_url)


def test_it_names_python_the_machine_and_the_packages_in_order() -> None:
    environment = observe_environment()
    names = [dist.name for dist in environment.distributions]
    assert environment.python == ".".join(map(str, sys.version_info[:3])) + (
        "" if sys.version_info.releaselevel == "final" else environment.python.lstrip("0123456789.")
    )
    assert environment.cpu_count
    assert names == sorted(names)
    assert "pytest" in names


def test_it_survives_the_way_through_json() -> None:
    environment = observe_environment()
    assert from_json(Environment, to_json(environment)) == environment


def test_it_imports_no_framework(repository: Path) -> None:
    code = (
        "observe_environment()\nout = {'loaded': sorted({'torch', 'numpy', 'threadpoolctl'} & set(sys.modules))}"
    )
    assert run(code, repository)["loaded"] == []


def test_a_package_counts_as_loaded_once_one_of_its_modules_is(repository: Path, tmp_path: Path) -> None:
    add_distribution(tmp_path / "site-packages", "cbone", "1.0")
    code = "before = seen('cbone')\nimport cbone\nout = {'before': before, 'after': seen('cbone')}"
    out = run(code, repository, tmp_path / "site-packages")
    assert out["before"]["loaded"] is False  # type: ignore[index]
    assert out["after"]["loaded"] is True  # type: ignore[index]
    assert out["after"]["installed_after_import"] is False  # type: ignore[index]


def test_a_module_of_the_same_name_from_elsewhere_does_not_count(repository: Path, tmp_path: Path) -> None:
    add_distribution(tmp_path / "site-packages", "cbone", "1.0")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "cbone.py").write_text("")
    code = f"sys.path.insert(0, {str(tmp_path / 'own')!r})\nimport cbone\nout = seen('cbone')"
    assert run(code, repository, tmp_path / "site-packages")["loaded"] is False


def test_a_package_upgraded_after_its_import_is_told_with_both_versions(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    add_distribution(site, "cbone", "1.0")
    helper = f"""
import cbone
first = loaded_fingerprint()
seen('cbone')
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_environment import add_distribution
from pathlib import Path
middle = loaded_fingerprint()
add_distribution(Path({str(site)!r}), 'cbone', '2.0')
out = {{'changed': middle != loaded_fingerprint(), **seen('cbone')}}
"""
    out = run(helper, repository, site)
    assert out["changed"] is True
    assert out["installed_after_import"] is True
    assert (out["version"], out["loaded_version"]) == ("2.0", "1.0")


def test_a_reinstalled_package_is_seen_even_when_nobody_looked_before(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    add_distribution(site, "cbone", "1.0")
    code = f"""
import cbone
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_environment import add_distribution
from pathlib import Path
add_distribution(Path({str(site)!r}), 'cbone', '2.0')
out = seen('cbone')
"""
    out = run(code, repository, site)
    assert (out["version"], out["loaded_version"]) == ("2.0", "1.0")


def test_a_package_installed_and_then_imported_is_no_change(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    code = f"""
seen('cbone')
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_environment import add_distribution
from pathlib import Path
add_distribution(Path({str(site)!r}), 'cbone', '2.0')
import importlib; importlib.invalidate_caches()
import cbone
out = seen('cbone')
"""
    out = run(code, repository, site)
    assert out["loaded"] is True
    assert out["installed_after_import"] is False


@pytest.mark.parametrize(
    ("direct_url", "kind"),
    [
        ('{"url": "file:///tmp", "dir_info": {"editable": true}}', SourceKind.EDITABLE),
        ('{"url": "file:///tmp", "dir_info": {}}', SourceKind.DIRECTORY),
        ('{"url": "file:///tmp/x-1.0-py3-none-any.whl", "archive_info": {}}', SourceKind.WHEEL),
        ('{"url": "https://me:pw@host/x.whl", "archive_info": {}}', SourceKind.URL),
        ('{"url": "https://me:pw@host/r", "vcs_info": {"vcs": "git", "commit_id": "abc"}}', SourceKind.GIT),
        ('{"url": "file:///home/conda/feedstock_root/build_artifacts/x", "dir_info": {}}', SourceKind.CONDA),
        ("", SourceKind.INDEX),
    ],
)
def test_the_source_comes_from_what_the_installer_wrote(
    repository: Path, tmp_path: Path, direct_url: str, kind: SourceKind
) -> None:
    add_distribution(tmp_path / "site-packages", "cbone", "1.0", direct_url=direct_url)
    out = run("out = seen('cbone')", repository, tmp_path / "site-packages")
    assert out["source"] == kind.value
    assert "pw" not in str(out["origin"])


def test_a_local_version_label_is_a_source_of_its_own(repository: Path, tmp_path: Path) -> None:
    add_distribution(tmp_path / "site-packages", "cbone", "1.0+cpu")
    out = run("out = seen('cbone')", repository, tmp_path / "site-packages")
    assert out["source"] == "local_version"


def test_what_only_clusterbridge_loads_does_not_count(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    add_distribution(site, "jupyter_clusterbridge_runtime", "9.9", requires="cbone")
    add_distribution(site, "cbone", "1.0")
    ours = "mods = __import__('cbone').__name__\nout = seen('cbone')"
    assert run(ours, repository, site)["loaded"] is False
    users = "__import__('cbone')\nseen('cbone')\nfirst = loaded_fingerprint()\nimport cbone\n"
    users += "out = {'changed': first != loaded_fingerprint(), **seen('cbone')}"
    found = run(users, repository, site)
    assert found["loaded"] is True
    assert found["changed"] is True


def test_of_packages_that_share_a_namespace_only_the_imported_one_counts(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    for name in ("cbone", "cbtwo"):
        add_distribution(site, name, "1.0")
        (site / f"{name}.py").unlink()
        (site / "cbspace" / name).mkdir(parents=True)
        (site / "cbspace" / name / "__init__.py").write_text("")
        record = next(site.glob(f"{name}-*.dist-info")) / "RECORD"
        record.write_text(f"cbspace/{name}/__init__.py,,\n")
    out = run("import cbspace.cbone\nout = {'one': seen('cbone'), 'two': seen('cbtwo')}", repository, site)
    assert out["one"]["loaded"] is True  # type: ignore[index]
    assert out["two"]["loaded"] is False  # type: ignore[index]


def test_a_package_that_was_removed_after_its_import_stays_known(repository: Path, tmp_path: Path) -> None:
    add_distribution(tmp_path / "site-packages", "cbone", "1.0")
    code = f"""
import cbone, shutil
seen('cbone')
shutil.rmtree({str(tmp_path / "site-packages" / "cbone-1.0.dist-info")!r})
out = seen('cbone')
"""
    out = run(code, repository, tmp_path / "site-packages")
    assert (out["loaded"], out["loaded_version"], out["installed_after_import"]) == (True, "1.0", True)


def test_only_numeric_variables_of_the_start_are_kept(repository: Path) -> None:
    code = """
import os
os.environ["OMP_DYNAMIC"] = "true"
out = dict(observe_environment().variables)
"""
    variables = {
        "OMP_NUM_THREADS": "3",
        "JPY_PARENT_PID": "1",
        "XLA_FLAGS": "--dump=/home/me",
        "MPLBACKEND": "agg",
    }
    out = run(code, repository, None, **variables)
    assert out["OMP_NUM_THREADS"] == "3"
    assert not {"JPY_PARENT_PID", "XLA_FLAGS", "MPLBACKEND"} & set(out)
    if sys.platform == "linux":
        assert "OMP_DYNAMIC" not in out


def test_the_fingerprint_stays_until_a_module_is_imported() -> None:
    first = loaded_fingerprint()
    assert loaded_fingerprint() == first
    sys.modules["cb_made_up_module"] = sys
    try:
        assert loaded_fingerprint() != first
    finally:
        del sys.modules["cb_made_up_module"]


@pytest.mark.torch
def test_settings_of_torch_are_read_once_torch_is_there(repository: Path) -> None:
    pytest.importorskip("torch")
    code = """
import torch
first = loaded_fingerprint()
observe_environment()
torch.use_deterministic_algorithms(True)
start = torch.get_num_threads()
torch.set_num_threads(start + 1)
e = observe_environment()
out = {"flags": dict(e.flags), "threads": dict(e.threads), "start": start, "same": first == loaded_fingerprint()}
"""
    out = run(code, repository)
    assert out["flags"]["torch.deterministic_algorithms"] == "True"  # type: ignore[index]
    assert out["threads"]["torch_at_start"] == out["start"]  # type: ignore[index]
    assert out["same"] is False


def test_a_package_that_another_one_refers_to_counts_though_clusterbridge_needs_it_too(
    repository: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site-packages"
    add_distribution(site, "jupyter_clusterbridge_runtime", "9.9", requires="cbone")
    add_distribution(site, "cbone", "1.0")
    add_distribution(site, "cbtwo", "1.0")
    (site / "cbtwo.py").write_text("def later():\n    global tool\n    import cbone as tool\n")
    code = "import cbtwo\n__import__('cbone')\nfirst = seen('cbone')\ncbtwo.later()\n"
    code += "out = {'first': first, **seen('cbone')}"
    out = run(code, repository, site)
    assert out["first"]["loaded"] is False  # type: ignore[index]
    assert out["loaded"] is True
