"""Run directories, trust in bundles, and signals to the command, on the local engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_clusterbridge.app.engines import list_engines
from jupyter_clusterbridge.app.run import RunRequest, run_bundle
from jupyter_clusterbridge.model.errors import (
    BundleInvalid,
    BundleModified,
    DocumentTooNew,
    EngineUnavailable,
    EnvironmentFailed,
    FolderNotWritable,
)

FOREVER = "import time\nprint('wait' + 'ing', flush=True)\nwhile True: time.sleep(0.05)"


def runs(bundle: Path) -> list[str]:
    folder = bundle.with_name(bundle.name + "-runs")
    return sorted(item.name for item in folder.iterdir()) if folder.exists() else []


def test_runs_are_numbered_beside_the_bundle_and_never_overwrite(make_bundle):
    bundle = make_bundle("x = 1")
    first, second = run_bundle(RunRequest(bundle)), run_bundle(RunRequest(bundle))
    assert [first.run_dir.name, second.run_dir.name] == ["1", "2"] == runs(bundle)
    with pytest.raises(FolderNotWritable, match="never overwrites"):
        run_bundle(RunRequest(bundle, out=first.run_dir))


def test_a_run_directory_cannot_lie_in_the_bundle(make_bundle):
    bundle = make_bundle("x = 1")
    with pytest.raises(FolderNotWritable, match="in a bundle"):
        run_bundle(RunRequest(bundle, out=bundle / "runs"))
    assert not (bundle / "runs").exists()


def test_an_edited_bundle_is_refused_before_anything_happens(make_bundle):
    bundle = make_bundle("x = 1")
    (bundle / "notebook.ipynb").write_text((bundle / "notebook.ipynb").read_text().replace("x = 1", "x = 2"))
    with pytest.raises(BundleModified):
        run_bundle(RunRequest(bundle))
    assert runs(bundle) == []


def test_a_bundle_of_a_newer_version_is_refused(make_bundle):
    bundle = make_bundle("x = 1")
    document = json.loads((bundle / "bundle.json").read_text())
    (bundle / "bundle.json").write_text(json.dumps({**document, "schema": "clusterbridge/bundle/99"}))
    with pytest.raises(DocumentTooNew):
        run_bundle(RunRequest(bundle))


def test_a_folder_that_is_no_bundle_is_refused(tmp_path):
    with pytest.raises(BundleInvalid):
        run_bundle(RunRequest(tmp_path))


def test_an_unknown_engine_is_refused_with_the_names_of_those_there_are(make_bundle):
    with pytest.raises(EngineUnavailable, match="local, docker"):
        run_bundle(RunRequest(make_bundle("x = 1"), engine="mainframe"))


def test_a_wrong_hash_stops_the_environment_and_leaves_no_run(make_bundle, locked):
    wrong = locked.requirements.split("--hash=sha256:")
    requirements = "--hash=sha256:".join([wrong[0], *("0" * 64 + part[64:] for part in wrong[1:])])
    bundle = make_bundle("x = 1", requirements=requirements)
    with pytest.raises(EnvironmentFailed, match=r"(?i)hash"):
        run_bundle(RunRequest(bundle))
    assert runs(bundle) == []


def test_a_lock_for_another_platform_is_refused(make_bundle):
    with pytest.raises(EngineUnavailable, match="linux/riscv64"):
        run_bundle(RunRequest(make_bundle("x = 1", platform="linux/riscv64")))


def test_a_lock_for_a_python_that_is_not_here_is_refused(make_bundle):
    with pytest.raises(EngineUnavailable, match=r"no Python 3\.99"):
        run_bundle(RunRequest(make_bundle("x = 1", python="3.99.1")))


def test_another_patch_version_runs_and_is_said(make_bundle):
    version = f"{sys.version_info[0]}.{sys.version_info[1]}.99"
    log: list[str] = []
    result = run_bundle(RunRequest(make_bundle("x = 1", python=version)), log.append)
    assert result.status.exit_code == 0
    assert any(f"Python {version} is not on this machine" in line for line in log)


def test_nothing_of_the_users_shell_reaches_the_job_but_guards_and_locked_variables(make_bundle, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "42")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("CLUSTERBRIDGE_GUARD_STALL", "warn")
    bundle = make_bundle(
        "import json, os\nprint(json.dumps(dict(os.environ)))", variables={"OMP_NUM_THREADS": "1"}
    )
    result = run_bundle(RunRequest(bundle))
    cells = json.loads((result.run_dir / "executed.ipynb").read_text())["cells"]
    seen = json.loads("".join(cells[0]["outputs"][0]["text"]))
    assert {"MY_SECRET", "PYTHONPATH"}.isdisjoint(seen)
    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["CLUSTERBRIDGE_GUARD_STALL"] == "warn"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command_cancels_the_job(make_bundle, number):
    bundle = make_bundle(FOREVER)
    command = [sys.executable, "-c", "from jupyter_clusterbridge.cli import main; main()", "run", str(bundle)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    notebook = bundle.with_name(bundle.name + "-runs") / "1" / "executed.ipynb"
    deadline = time.monotonic() + 60
    while not (notebook.exists() and "waiting" in notebook.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 143, output
    status = json.loads((notebook.parent / "status.json").read_text())
    assert status["state"] == "cancelled"


def test_the_list_of_engines_says_why_one_cannot_be_used(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    report = {info.name: info for info in list_engines().engines}
    assert report["local"].usable
    assert not report["docker"].usable
    assert "no engine is running" in report["docker"].reason


def test_an_unwritable_place_for_runs_is_one_plain_error(make_bundle, tmp_path):
    bundle = make_bundle("x = 1")
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(FolderNotWritable):
        run_bundle(RunRequest(bundle, out=blocker / "run"))
    assert os.listdir(tmp_path).count("file") == 1
