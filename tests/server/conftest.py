"""A real Jupyter server with our extension, and a synchronous client for it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError


@pytest.fixture
def jp_server_config() -> dict[str, object]:
    return {"ServerApp": {"jpserver_extensions": {"jupyter_clusterbridge": True}}}


@dataclasses.dataclass(frozen=True)
class Reply:
    """Status and JSON body of an answer."""

    status: int
    body: Any


@pytest.fixture
def call(jp_asyncio_loop: Any, jp_fetch: Any) -> Callable[..., Reply]:
    """Fetch below /clusterbridge/; failures come back as replies, not as exceptions."""

    def _call(name: str, **options: Any) -> Reply:
        try:
            answer = jp_asyncio_loop.run_until_complete(jp_fetch("clusterbridge", name, **options))
            return Reply(answer.code, json.loads(answer.body))
        except HTTPClientError as error:
            return Reply(error.code, json.loads(error.response.body) if error.response else None)

    return _call


@pytest.fixture
def notebook(jp_root_dir: Path) -> Callable[..., Path]:
    """Write a Python notebook below the server's root from the sources of its code cells."""

    def _write(name: str, *sources: str) -> Path:
        path = jp_root_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [
            {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "source": source, "outputs": [],
             "execution_count": None}
            for i, source in enumerate(sources)
        ]  # fmt: skip
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return _write
