"""What a recorded session holds and a bundle must not, and what earlier exports leave beside a notebook."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_clusterbridge.export.baseline import Baseline
from jupyter_clusterbridge.export.private import without_private
from jupyter_clusterbridge.model.canonical import digest_bytes
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.record import FileRecord, ListingRecord, RunRecord
from jupyter_clusterbridge.model.state import Intervention, InterventionKind
from jupyter_clusterbridge.runtime.record import read_record


def edited(message: str, kind: InterventionKind = InterventionKind.EDITED_RERUN) -> str:
    record = RunRecord("notebook", (), None, interventions=(Intervention(kind, "c", message, ""),))
    return without_private(record, lambda path: False).interventions[0].message


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("changed `lr = 0.1` to `1e-3` between runs 1 and 2", "changed `lr = 0.1` to `1e-3` between runs 1 and 2"),
        ("changed `on = True` to `None` between", "changed `on = True` to `None` between"),
        ("changed `key = 'hunter2'` to `'x'` between runs 1 and 2", "changed `…` between runs 1 and 2"),
        ("changed (removed `%env TOKEN=hunter2`) between", "changed (removed `…`) between"),
        ("changed `!echo `cat hunter2`` to `y` between", "changed `…` between"),
        ("changed `!echo `hunter2` to `1` between", "changed `…` between"),
    ],
)
def test_text_that_was_taken_out_of_a_cell_is_not_quoted(told: str, kept: str) -> None:
    assert edited(told) == kept


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("`lr` (FloatSlider) was moved from `0.1` to `0.4`", "`lr` (FloatSlider) was moved from `0.1` to `0.4`"),
        ("`who` (Text) was moved from `''` to `'Ada'`; cell 3 read it", "`…`; cell 3 read it"),
        ("write `who.value = 'Ada'` into a cell", "write `…` into a cell"),
    ],
)
def test_what_was_typed_into_a_widget_is_not_quoted(told: str, kept: str) -> None:
    assert edited(told, InterventionKind.WIDGET_CHANGE) == kept


def test_a_path_outside_is_not_told() -> None:
    assert edited("the file `/home/me/x.csv` was", InterventionKind.OUT_OF_ORDER) == "the file `…` was"


def test_the_baseline_names_no_file_that_the_text_does_not_name(make_notebook: Any, export: Any) -> None:
    path = make_notebook("open('/srv/named/a.csv')\nopen(other)")
    paths = ("/srv/named/a.csv", "/srv/people/me.csv", "~/data/b.csv", ".env", "c.csv")
    record = RunRecord(
        "notebook",
        (),
        None,
        files=tuple(FileRecord(path, 1, "sha256:0", 0) for path in paths),
        listings=(ListingRecord("/srv/people", 1, "o", "s", 0), ListingRecord("data", 1, "o", "s", 0)),
    )
    written, _ = read_record(export(path, baseline=Baseline(record, None)).folder / "baseline")
    assert [file.path for file in written.files] == ["/srv/named/a.csv", "~/data/b.csv", "c.csv"]
    assert [listing.path for listing in written.listings] == ["data"]


def test_a_link_to_a_secret_is_not_shipped(make_notebook: Any, export: Any) -> None:
    path = make_notebook("open('notes.txt').read()\nopen('circle.txt')\nopen('data.csv')")
    credentials = path.parent.parent / ".aws" / "credentials"
    credentials.parent.mkdir()
    credentials.write_text("key")
    (path.parent.parent / "far.csv").write_text("1")
    (path.parent / "notes.txt").symlink_to(credentials)
    (path.parent / "circle.txt").symlink_to("circle.txt")
    (path.parent / "data.csv").symlink_to("../far.csv")
    bundle = export(path)
    assert [file.path for file in bundle.manifest.data] == ["data.csv"]
    assert not (bundle.folder / "project" / "notes.txt").exists()
    assert [warning.split(" looks like a secret")[0] for warning in bundle.warnings] == ["notes.txt"]


def test_bundles_and_runs_beside_the_data_are_not_data(make_notebook: Any, export: Any) -> None:
    path = make_notebook("import glob, os\nglob.glob('**/*.csv', recursive=True)\nos.walk('data')")
    data = path.parent / "data"
    data.mkdir()
    (data / "x.csv").write_text("1")
    first = export(path, data / "bundle")
    run = data / "bundle-runs" / "1"
    (run / "work").mkdir(parents=True)
    for name in ("status.json", "executed.ipynb", "work/y.csv"):
        (run / name).write_text("{}")
    again = export(path)
    assert [file.path for file in again.manifest.data] == ["data/x.csv"]
    assert again.manifest == first.manifest


def test_a_file_of_an_earlier_run_that_the_text_names_is_data(make_notebook: Any, export: Any) -> None:
    path = make_notebook("import glob\nopen('run/metrics.json')\nglob.glob('run/work/*.csv')")
    (path.parent / "run" / "work").mkdir(parents=True)
    for name in ("status.json", "executed.ipynb", "metrics.json", "work/y.csv"):
        (path.parent / "run" / name).write_text("{}")
    assert [file.path for file in export(path).manifest.data] == ["run/metrics.json", "run/work/y.csv"]


def test_the_identity_of_the_recorded_run_holds_the_files_as_it_read_them(make_notebook: Any, export: Any) -> None:
    path = make_notebook("#tag\nLR = 1", "import helper\nopen('a.csv')")
    now = {"helper.py": "x = 1", "a.csv": "1"}
    for name, text in now.items():
        (path.parent / name).write_text(text)

    def identities(given: dict[str, str], **then: str) -> tuple[Identity | None, Identity]:
        read = {**now, **then}
        files = tuple(FileRecord(name, 1, digest_bytes(text.encode()), 1) for name, text in read.items())
        bundle = export(path, given=given, baseline=Baseline(RunRecord("notebook", (), None, files=files), None))
        return read_record(bundle.folder / "baseline")[0].identity, bundle.manifest.identity

    recorded, job = identities({})
    assert recorded == job
    assert parts_that_differ(*identities({"LR": "2"})) == ["code"]
    assert parts_that_differ(*identities({}, **{"helper.py": "x = 2"})) == ["code"]
    assert parts_that_differ(*identities({}, **{"a.csv": "2"})) == ["data"]


def parts_that_differ(one: Identity | None, two: Identity) -> list[str]:
    return [part for part in ("code", "env", "data", "order", "seeds") if getattr(one, part) != getattr(two, part)]
