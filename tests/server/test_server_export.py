"""Exports over HTTP, with the real export behind them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.server.documents import ExportAnswer

SEEDED = "import random\nrandom.seed(0)\nprint(random.random())"


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_an_export_writes_the_bundle_while_the_server_goes_on_answering(
    jp_fetch: Any, jp_asyncio_loop: Any, notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    notebook("work/x.ipynb", SEEDED)
    body = json.dumps({"path": "work/x.ipynb", "engines": ["local"]})

    async def both() -> tuple[Any, bool]:
        export = asyncio.ensure_future(
            jp_fetch("clusterbridge", "export", method="POST", body=body, request_timeout=240)
        )
        await asyncio.sleep(0.05)
        await jp_fetch("clusterbridge", "findings", params={"path": "work/x.ipynb"})
        running = not export.done()
        return await export, running

    reply, was_running = jp_asyncio_loop.run_until_complete(asyncio.wait_for(both(), 280))
    answer = from_json(ExportAnswer, json.loads(reply.body))
    assert was_running
    assert answer.folder == "work/x-bundle"
    assert answer.folder_on_disk == str(jp_root_dir / "work" / "x-bundle")
    assert answer.engines == ("local",)
    manifest = json.loads((jp_root_dir / "work" / "x-bundle" / "bundle.json").read_text())
    assert answer.model_identity == manifest["identity"]["model"]


def test_an_unknown_parameter_is_the_users_to_mend_and_leaves_nothing(
    call: Callable[..., Any], notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    path = notebook("x.ipynb", "EPOCHS = 3", SEEDED)
    content = json.loads(path.read_text())
    content["cells"][0]["metadata"]["tags"] = ["parameters"]
    path.write_text(json.dumps(content))
    reply = call("export", method="POST", body=json.dumps({"path": "x.ipynb", "parameters": {"LR": "1"}}))
    assert (reply.status, reply.body["exit_code"]) == (422, 22)
    assert "LR" in reply.body["message"]
    assert left_in(jp_root_dir) == {"x.ipynb"}


def test_a_folder_of_the_users_own_is_not_overwritten(
    call: Callable[..., Any], notebook: Callable[..., Path], jp_root_dir: Path
) -> None:
    notebook("x.ipynb", SEEDED)
    (jp_root_dir / "thesis").mkdir()
    (jp_root_dir / "thesis" / "chapter.txt").write_text("years of work")
    reply = call("export", method="POST", body=json.dumps({"path": "x.ipynb", "output": "thesis"}))
    assert (reply.status, reply.body["exit_code"]) == (422, 15)
    assert left_in(jp_root_dir / "thesis") == {"chapter.txt"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[]", "expected an object"),
        ("{}", "'path' is missing"),
        ('{"path": 3}', "expected str"),
        ('{"path": "x.ipynb", "scope": "half"}', "'half' is not one of used, all"),
        ('{"path": "x.ipynb", "parameters": {"A": 1}}', "expected str"),
    ],
)
def test_a_malformed_order_is_refused_in_words(call: Callable[..., Any], body: str, said: str) -> None:
    reply = call("export", method="POST", body=body, allow_nonstandard_methods=True)
    assert reply.status == 400
    assert said in reply.body["message"]
