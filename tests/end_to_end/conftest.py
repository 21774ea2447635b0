"""The command line, as the end-to-end tests use it."""

from __future__ import annotations

import pytest
from end_to_end_helpers import Command, run_clusterbridge


@pytest.fixture(scope="session")
def clusterbridge() -> Command:
    """Run ``clusterbridge`` with arguments and return how it ended."""
    return run_clusterbridge
