"""Options and fixtures that every room's tests share."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"] if os.environ.get("CLUSTERBRIDGE_TEST_BARE") is None else []

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files and snapshots anew; without it a missing or different one fails",
    )


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def repository_root() -> Path:
    """The root of the checkout, for fixtures of a wider scope."""
    return REPOSITORY


@contextlib.contextmanager
def _another_user() -> Iterator[None]:
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.fixture
def without_rights() -> Callable[[], AbstractContextManager[None]]:
    """A context in which permissions hold for root too: it is another user meanwhile."""
    return _another_user


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that every user can enter and read, and only its owner can write."""
    folder = Path(tempfile.mkdtemp(prefix="clusterbridge-test-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def docker_engine() -> None:
    """A Docker engine that answers; without one the test is skipped, and in CI it fails."""
    from docker import DockerClient
    from docker.errors import DockerException

    try:
        DockerClient.from_env(timeout=5).ping()
    except DockerException as error:
        if in_ci():
            pytest.fail(f"no Docker engine answers: {error}")
        pytest.skip(f"no Docker engine answers: {error}")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))


def in_ci() -> bool:
    """Whether a missing engine is a failure instead of a reason to skip."""
    return os.environ.get("CLUSTERBRIDGE_CI") == "1"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be left out, a skipped test is a failure; its reason stands in the summary."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if skipped and os.environ.get("CLUSTERBRIDGE_NO_SKIPS") == "1" and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
