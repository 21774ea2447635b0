"""Linting source text instead of files."""

from __future__ import annotations

import pytest
from lint_kit import Lint, notebook_of

from jupyter_clusterbridge.lint.runner import lint_notebook


@pytest.fixture
def lint() -> Lint:
    """Lints a text; cells are parted by lines ``# %%``."""
    return lambda text: lint_notebook(notebook_of(text))
