"""Options and fixtures that every room's tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"] if os.environ.get("CLUSTERBRIDGE_TEST_BARE") is None else []

REPOSITORY = Path(__file__).resolve().parent.parent


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


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))


def in_ci() -> bool:
    """Whether a missing engine is a failure instead of a reason to skip."""
    return os.environ.get("CLUSTERBRIDGE_CI") == "1"
