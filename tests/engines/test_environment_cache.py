"""The cache of locked environments."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jupyter_clusterbridge.engines.environments import LockedEnvironment, ensure_environment, locked_environment
from jupyter_clusterbridge.engines.interpreter import find_interpreter

VERSION = ".".join(map(str, sys.version_info[:3]))


@pytest.fixture
def environment(make_bundle, tmp_path, monkeypatch) -> LockedEnvironment:
    monkeypatch.setenv("CLUSTERBRIDGE_CACHE", str(tmp_path / "cache"))
    return locked_environment(make_bundle("x = 1"), find_interpreter(VERSION))


def quiet(_text: str) -> None:
    return None


def test_an_environment_is_made_once_and_then_found(environment):
    assert ensure_environment(environment, quiet)
    assert not ensure_environment(environment, quiet)
    command = [
        str(environment.python),
        "-c",
        "import ipykernel, jupyter_clusterbridge.runtime, sys; print(sys.version)",
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith(VERSION)


def test_it_holds_the_lock_and_nothing_else(environment, locked):
    ensure_environment(environment, quiet)
    site = next(environment.folder.glob("lib/python*/site-packages"))
    assert len(list(site.glob("*.dist-info"))) == locked.requirements.count("==")


def test_a_changed_environment_is_made_afresh(environment):
    ensure_environment(environment, quiet)
    site = next(environment.folder.glob("lib/python*/site-packages"))
    (site / "intruder.py").write_text("")
    said: list[str] = []
    assert ensure_environment(environment, said.append)
    assert not (site / "intruder.py").exists()
    assert "was changed" in said[0]


def test_what_a_killed_build_left_is_not_taken_for_an_environment(environment):
    part = environment.folder.with_name(environment.folder.name + ".part")
    (part / "bin").mkdir(parents=True)
    environment.folder.mkdir(parents=True)
    assert ensure_environment(environment, quiet)
    assert not part.exists()


def test_two_runs_at_once_make_one_environment(environment):
    made: list[bool] = []
    threads = [
        threading.Thread(target=lambda: made.append(ensure_environment(environment, quiet))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, False, True]


def test_another_lock_and_another_python_have_their_own_places(make_bundle, locked):
    interpreter = find_interpreter(VERSION)
    one = locked_environment(make_bundle("x = 1"), interpreter)
    same = locked_environment(make_bundle("x = 2"), interpreter)
    other = locked_environment(make_bundle("x = 1", requirements=locked.requirements + "\n"), interpreter)
    assert one.folder == same.folder != other.folder


def test_this_process_has_an_interpreter_of_its_own_version():
    found = find_interpreter(VERSION)
    assert found.version == VERSION
    assert Path(found.path).exists()
