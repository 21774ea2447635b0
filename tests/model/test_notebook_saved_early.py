"""Notebooks as JupyterLab writes them before their kernel has answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_clusterbridge.model.errors import NotPython
from jupyter_clusterbridge.model.notebook import notebook_from_json


def saved(kernelspec: dict[str, str], language: str) -> dict[str, object]:
    metadata = {"kernelspec": kernelspec, "language_info": {"name": language}}
    return {"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": metadata}


@pytest.mark.parametrize("kernelspec", [{"name": "python3", "language": "python"}, {"name": "python3"}, {}])
def test_an_empty_language_is_an_unknown_one(kernelspec: dict[str, str]) -> None:
    assert notebook_from_json(saved(kernelspec, ""), Path("x.ipynb")).language == "python"


def test_the_kernel_speaks_for_a_notebook_without_a_language() -> None:
    with pytest.raises(NotPython):
        notebook_from_json(saved({"name": "ir", "language": "R"}, ""), Path("x.ipynb"))
