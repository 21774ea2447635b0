"""The Dockerfile of a bundle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.model.lock import BaseImage

DIGEST = "sha256:" + "cd" * 32


def test_layers_of_the_lock_come_before_the_code_and_the_user_is_a_number(make_notebook: Any, export: Any) -> None:
    path = make_notebook("open('data.csv')")
    (path.parent / "data.csv").write_text("1")
    text = (export(path).folder / "Dockerfile").read_text()
    order = [
        "ARG BASE=python:3.11.7-slim",
        "COPY requirements.txt",
        "pip install --no-cache-dir --no-deps --require-hashes --find-links wheels -r requirements.txt",
        'OMP_NUM_THREADS="1"',
        "COPY .dockerignore Dockerfile README.md bundle.json notebook.ipynb pylock.toml ./",
        "COPY project/ project/",
        'LABEL clusterbridge.model="sha256:',
        "USER 10001:10001",
        'ENTRYPOINT ["python", "-m", "jupyter_clusterbridge.runtime", "--bundle", "/bundle"',
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "--mount" not in text


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (BaseImage("python:3.11.7-slim", DIGEST), f"ARG BASE=python:3.11.7-slim@{DIGEST}"),
        (BaseImage("mine:1", DIGEST, local=True), "ARG BASE=mine:1"),
        (BaseImage(f"python@{DIGEST}", DIGEST), f"ARG BASE=python@{DIGEST}"),
    ],
)
def test_the_base_is_named_by_digest_where_a_registry_knows_it(
    make_notebook: Any, export: Any, image: BaseImage, expected: str
) -> None:
    from jupyter_clusterbridge.export.render import render_dockerfile

    manifest = export(make_notebook("x = 1")).manifest
    import dataclasses

    text = render_dockerfile(dataclasses.replace(manifest, base_image=image), ["bundle.json"])
    assert expected in text.splitlines()


def test_a_name_with_odd_characters_stays_a_label(make_notebook: Any, export: Any) -> None:
    path = make_notebook("x = 1", name='my "$HOME" nb.ipynb')
    assert 'title="my \\"\\$HOME\\" nb"' in (export(path).folder / "Dockerfile").read_text()


def test_hadolint_has_nothing_to_say(make_notebook: Any, export: Any) -> None:
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        if os.environ.get("CLUSTERBRIDGE_CI") == "1":
            pytest.fail("hadolint is missing")
        pytest.skip("hadolint is not installed")
    dockerfile = export(make_notebook("x = 1")).folder / "Dockerfile"
    done = subprocess.run([hadolint, "--no-color", dockerfile], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0
