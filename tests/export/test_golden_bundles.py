"""Whole bundles held against files in the tree, and scanned for what must never leave a machine."""

from __future__ import annotations

import getpass
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from recorded import write_recorded
from write_recorded_bundle import write

from jupyter_clusterbridge.export.runtime_wheel import wheel_name
from jupyter_clusterbridge.model.canonical import digest_bytes, digest_file
from jupyter_clusterbridge.model.version import VERSION

GOLDEN = Path(__file__).parents[1] / "golden"
_BINARY = {".whl", ".bin"}
_FORBIDDEN = {
    "a file address": re.compile(rb"file:/"),
    "a home folder": re.compile(rb"/(?:home|Users|root)/(?!job)"),
    "a temporary folder": re.compile(rb"/(?:tmp|var/folders)/"),
    "credentials in an address": re.compile(rb"://[^/\s\"@]+:[^/\s\"@]*@"),
    "a secret": re.compile(rb"(?i)(?:password|secret|token|api[_-]?key)\s*[=:]"),
}


@pytest.fixture(params=["plain", "recorded"])
def bundle(request: pytest.FixtureRequest, tmp_path: Path, make_notebook: Any, monkeypatch: Any) -> Path:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from jupyter_clusterbridge.app import export as app

    monkeypatch.setattr(app, "resolve", app.resolve)
    monkeypatch.setattr(app, "resolve_base_image", app.resolve_base_image)
    output = tmp_path / "out" / request.param
    if request.param == "plain":
        notebook = make_notebook("#tag\nSEED = 3", "import random\nrandom.seed(SEED)\nprint(random.random())")
        write(notebook, output, {"SEED": "4"})
    else:
        write(write_recorded(tmp_path / "project"), output)
    return output


def normalised(bundle: Path) -> dict[str, bytes]:
    """Files of a bundle with what changes at every change of our own code taken out."""
    wheel = bundle / "wheels" / wheel_name()
    volatile = {digest_file(wheel).removeprefix("sha256:"): "WHEEL", VERSION: "VERSION"}
    files = {path.relative_to(bundle).as_posix(): path for path in bundle.rglob("*") if path.is_file()}
    for name in ("requirements.txt", "pylock.toml", "README.md", "Dockerfile"):
        volatile[digest_file(bundle / name).removeprefix("sha256:")] = name.upper()
    found: dict[str, bytes] = {}
    for name, path in sorted(files.items()):
        data = path.read_bytes()
        if path.suffix in _BINARY:
            found[name] = b"" if path.suffix == ".whl" else digest_bytes(data).encode()
            continue
        text = data.decode()
        for old, new in volatile.items():
            text = text.replace(old, new)
        text = re.sub(r'("digest": )"sha256:\w+"(,\n  "engines")', r'\1"DOCUMENT"\2', text)
        found[name] = text.encode()
    return {name.replace(VERSION, "VERSION"): data for name, data in found.items()}


def test_the_bundle_is_the_golden_one(bundle: Path, update_golden: bool) -> None:
    golden = GOLDEN / bundle.name
    found = normalised(bundle)
    if update_golden:
        shutil.rmtree(golden, ignore_errors=True)
        for name, data in found.items():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            (golden / name).write_bytes(data)
    expected = {p.relative_to(golden).as_posix(): p.read_bytes() for p in golden.rglob("*") if p.is_file()}
    assert sorted(found) == sorted(expected)
    for name, data in found.items():
        assert data.decode("utf-8", "replace") == expected[name].decode("utf-8", "replace"), name


def test_nothing_of_this_machine_is_in_the_bundle(bundle: Path, tmp_path: Path) -> None:
    names = [str(tmp_path), str(Path.home()), socket.gethostname()]
    if getpass.getuser() != "root":
        names.append(getpass.getuser())
    for path in bundle.rglob("*"):
        if not path.is_file() or path.suffix == ".whl":
            continue
        data = path.read_bytes()
        for name in names:
            assert len(name) < 5 or name.encode() not in data, f"{path.name} holds {name}"
        for what, pattern in _FORBIDDEN.items():
            assert not pattern.search(data), f"{path.name} holds {what}"


def test_the_golden_bundles_in_the_tree_hold_nothing_of_a_machine_either() -> None:
    files = [path for path in GOLDEN.rglob("*") if path.is_file()]
    assert files
    for path in files:
        for what, pattern in _FORBIDDEN.items():
            assert not pattern.search(path.read_bytes()), f"{path} holds {what}"
