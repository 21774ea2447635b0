"""Sealing and reading bundles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.errors import BundleInvalid, BundleModified, DocumentTooNew
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.lock import BaseImage, Lock
from jupyter_clusterbridge.runtime.bundle import read_bundle, seal


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "project").mkdir(parents=True)
    (folder / "notebook.ipynb").write_text("{}")
    (folder / "project" / "helper.py").write_text("x = 1\n")
    seal(
        folder,
        BundleManifest(
            name="n",
            written_by="0",
            identity=Identity.of(code="a", env="b", data="c", order="d", seeds="e"),
            lock=Lock("3.11.7", "linux/amd64", ()),
            base_image=BaseImage("python:3.11.7-slim"),
        ),
    )
    return folder


def test_a_sealed_bundle_reads_back_with_its_files(bundle: Path) -> None:
    manifest = read_bundle(bundle)
    assert sorted(manifest.files) == ["notebook.ipynb", "project/helper.py"]


def test_a_changed_file_is_named(bundle: Path) -> None:
    (bundle / "project" / "helper.py").write_text("x = 2\n")
    with pytest.raises(BundleModified, match=r"helper\.py: was changed"):
        read_bundle(bundle)


def test_a_changed_manifest_is_seen(bundle: Path) -> None:
    path = bundle / "bundle.json"
    document = json.loads(path.read_text())
    document["lock"]["variables"] = {"OMP_NUM_THREADS": "1"}
    path.write_text(json.dumps(document))
    with pytest.raises(BundleModified, match=r"bundle\.json"):
        read_bundle(bundle)


def test_reformatting_the_manifest_changes_nothing(bundle: Path) -> None:
    path = bundle / "bundle.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    read_bundle(bundle)


def test_a_file_added_to_the_project_is_seen(bundle: Path) -> None:
    (bundle / "project" / "numpy.py").write_text("")
    with pytest.raises(BundleModified, match="added"):
        read_bundle(bundle)


def test_caches_and_run_directories_in_a_bundle_are_no_change(bundle: Path) -> None:
    (bundle / "project" / "__pycache__").mkdir()
    (bundle / "project" / "__pycache__" / "helper.pyc").write_bytes(b"")
    (bundle / "runs").mkdir()
    (bundle / "runs" / "status.json").write_text("{}")
    read_bundle(bundle)


def test_a_missing_file_makes_the_bundle_invalid(bundle: Path) -> None:
    (bundle / "notebook.ipynb").unlink()
    with pytest.raises(BundleInvalid, match="missing"):
        read_bundle(bundle)


@pytest.mark.parametrize("place", ["nowhere", "notebook.ipynb", "project"])
def test_what_is_no_bundle_is_refused(bundle: Path, place: str) -> None:
    with pytest.raises(BundleInvalid, match="no bundle"):
        read_bundle(bundle / place)


def test_a_bundle_of_a_newer_version_is_refused(bundle: Path) -> None:
    path = bundle / "bundle.json"
    document = json.loads(path.read_text())
    document["schema"] = "clusterbridge/bundle/2"
    path.write_text(json.dumps(document))
    with pytest.raises(DocumentTooNew):
        read_bundle(bundle)


def test_a_manifest_that_is_no_json_counts_as_changed(bundle: Path) -> None:
    (bundle / "bundle.json").write_text('{"schema":')
    with pytest.raises(BundleModified, match="JSON"):
        read_bundle(bundle)
