"""Paths stay below the server's root folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.web import HTTPError

from jupyter_clusterbridge.server.paths import api_path, resolve

ESCAPES = ["../secret.ipynb", "a/../../secret.ipynb", "..\\secret.ipynb", "", "/", "a\0.ipynb", ".hidden/x.ipynb"]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leaves_the_root_is_not_found(jp_serverapp: Any, path: str) -> None:
    with pytest.raises(HTTPError) as caught:
        resolve(jp_serverapp.contents_manager, path)
    assert caught.value.status_code == 404


def test_an_absolute_path_is_read_as_one_below_the_root(jp_serverapp: Any, jp_root_dir: Path) -> None:
    assert resolve(jp_serverapp.contents_manager, "/etc/passwd") == jp_root_dir / "etc" / "passwd"


def test_a_file_goes_to_its_api_path_and_back(jp_serverapp: Any, jp_root_dir: Path) -> None:
    manager = jp_serverapp.contents_manager
    assert api_path(manager, jp_root_dir / "a" / "b.ipynb") == "a/b.ipynb"
    assert resolve(manager, "a/b.ipynb") == jp_root_dir / "a" / "b.ipynb"


def test_a_folder_outside_the_root_keeps_its_place_to_itself(jp_serverapp: Any, tmp_path: Path) -> None:
    assert api_path(jp_serverapp.contents_manager, tmp_path / "elsewhere" / "x.ipynb") == "x.ipynb"


@pytest.mark.parametrize("name", ["findings", "check"])
def test_a_notebook_beside_the_root_cannot_be_read(call: Callable[..., Any], jp_root_dir: Path, name: str) -> None:
    (jp_root_dir.parent / "secret.ipynb").write_text("{}")
    reply = call(name, params={"path": "../secret.ipynb"})
    assert reply.status == 404
    assert set(reply.body) == {"message", "hint", "exit_code"}


def test_an_export_cannot_write_outside_the_root(call: Callable[..., Any], notebook: Callable[..., Path]) -> None:
    notebook("x.ipynb", "1")
    body = json.dumps({"path": "x.ipynb", "output": "../stolen"})
    reply = call("export", method="POST", body=body)
    assert reply.status == 404
