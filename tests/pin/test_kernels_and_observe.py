"""From a kernel's name to what its interpreter has."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SmallEnvironment

from jupyter_clusterbridge.model.errors import KernelNotFound, LockFailed, NotPython
from jupyter_clusterbridge.pin.kernels import kernel_python
from jupyter_clusterbridge.pin.observe import observe_python

InstallKernel = Callable[..., None]


@pytest.fixture
def install_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallKernel:
    """A function that installs a kernel of a name with a command line and a language."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    def install(name: str, *argv: str, language: str = "python") -> None:
        folder = tmp_path / "kernels" / name
        folder.mkdir(parents=True)
        spec = {"argv": [*argv, "-f", "{connection_file}"], "display_name": name, "language": language}
        (folder / "kernel.json").write_text(json.dumps(spec))

    return install


def test_a_kernel_gives_its_interpreter(install_kernel: InstallKernel, small: SmallEnvironment) -> None:
    install_kernel("cbmine", str(small.python), "-m", "ipykernel_launcher")
    assert kernel_python("cbmine") == small.python


def test_a_bare_name_is_jupyters_own_interpreter(install_kernel: InstallKernel) -> None:
    install_kernel("cbbare", "python3", "-m", "ipykernel_launcher")
    assert kernel_python("cbbare") == Path(sys.executable)


def test_no_name_is_the_default_kernel() -> None:
    assert kernel_python(None) == Path(sys.executable)


def test_a_kernel_that_is_not_installed_is_named_beside_those_that_are(install_kernel: InstallKernel) -> None:
    install_kernel("cbother", sys.executable)
    with pytest.raises(KernelNotFound, match=r"'cbgone' is not installed here .*cbother"):
        kernel_python("cbgone")


def test_a_kernel_whose_interpreter_is_gone_says_so(install_kernel: InstallKernel) -> None:
    install_kernel("cbold", "/no/such/place/bin/python")
    with pytest.raises(KernelNotFound, match="/no/such/place/bin/python, which is not there"):
        kernel_python("cbold")


def test_a_kernel_behind_a_wrapper_asks_for_the_interpreter(install_kernel: InstallKernel) -> None:
    install_kernel("cbwrapped", "conda", "run", "-n", "x", "python")
    with pytest.raises(KernelNotFound) as caught:
        kernel_python("cbwrapped")
    assert "--python" in caught.value.next_step


def test_a_kernel_of_another_language_is_refused(install_kernel: InstallKernel) -> None:
    install_kernel("cbjulia", "julia", language="julia")
    with pytest.raises(NotPython, match="julia"):
        kernel_python("cbjulia")


def test_an_interpreter_without_clusterbridge_is_observed(small: SmallEnvironment) -> None:
    found = observe_python(small.python, ["six"])
    loaded = {dist.name: dist.loaded for dist in found.distributions}
    assert loaded == {"cbdir": False, "cbedit": False, "cbgit": False, "cbwheel": False, "six": True}


def test_modules_are_matched_to_distributions_of_another_name() -> None:
    found = observe_python(Path(sys.executable), ["IPython", "psutil", "zmq"])
    assert {dist.name for dist in found.distributions if dist.loaded} >= {"ipython", "psutil", "pyzmq"}


def test_something_that_is_no_python_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelNotFound, match="cannot be started"):
        observe_python(tmp_path / "python")
    with pytest.raises(LockFailed, match="could not be listed"):
        observe_python(Path("/bin/false"))


def test_an_old_python_is_refused_with_its_version() -> None:
    old = next(Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python"), None)
    if old is None:
        pytest.skip("no Python older than 3.10 is on this machine")
    with pytest.raises(LockFailed, match=r"is Python 3\.[6-9]; notebooks can be exported from Python 3\.10"):
        observe_python(old)
