"""A session: cells, random streams, metrics, heartbeat, and leaving no trace."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_kit import Recorded

from jupyter_clusterbridge.model.events import (
    ArtifactDeclared,
    CellEnd,
    CellStart,
    EnvironmentSeen,
    MetricLogged,
)
from jupyter_clusterbridge.runtime import api
from jupyter_clusterbridge.runtime.heartbeat import Beat, Heartbeat, read_heartbeat
from jupyter_clusterbridge.runtime.hooks import Hook, hook_classes
from jupyter_clusterbridge.runtime.imports import ImportWatch
from jupyter_clusterbridge.runtime.journal import JournalWriter
from jupyter_clusterbridge.runtime.rng import rng_fingerprints
from jupyter_clusterbridge.runtime.session import Session


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Recorded]:
    recorded = Recorded(tmp_path)
    yield recorded
    recorded.close()
    assert recorded.errors == []


def test_each_cell_gives_a_start_and_an_end_with_one_run_number(kernel: Recorded) -> None:
    kernel.run("a = 1", "a + 1", ids=("one", None))
    assert [(event.run, event.cell_id, event.source) for event in kernel.events(CellStart)] == [
        (1, "one", "a = 1"),
        (2, None, "a + 1"),
    ]
    assert [(event.run, event.status) for event in kernel.events(CellEnd)] == [(1, "ok"), (2, "ok")]


@pytest.mark.parametrize(
    ("source", "status", "error"),
    [
        ("1 / 0", "error", "ZeroDivisionError"),
        ("raise KeyboardInterrupt", "interrupted", "KeyboardInterrupt"),
        ("raise SystemExit(0)", "exit", "SystemExit"),
        ("a = = 1", "error", "SyntaxError"),
    ],
)
def test_the_end_names_how_a_cell_ended(kernel: Recorded, source: str, status: str, error: str) -> None:
    kernel.run(source)
    (end,) = kernel.events(CellEnd)
    assert (end.status, end.error) == (status, error)


def test_a_silent_request_is_no_run(kernel: Recorded) -> None:
    kernel.shell.run_cell("x = 1", silent=True)
    kernel.shell.run_cell("x = 1", store_history=False)
    assert kernel.events(CellStart) == []


def test_random_streams_name_the_cell_that_shifted_them(kernel: Recorded) -> None:
    kernel.run("import random; random.seed(1)", "x = 1", "random.random()")
    starts, ends = kernel.events(CellStart), kernel.events(CellEnd)
    assert starts[1].rng["python"] == ends[1].rng["python"] == starts[2].rng["python"]
    assert starts[2].rng["python"] != ends[2].rng["python"]


def test_a_fingerprint_counts_the_spare_normal_number_too() -> None:
    state = random.getstate()
    try:
        random.seed(1)
        before = rng_fingerprints()["python"]
        random.setstate((*random.getstate()[:2], 0.5))
        assert rng_fingerprints()["python"] != before
    finally:
        random.setstate(state)


def test_numpys_global_stream_is_followed_and_not_disturbed() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    numpy.random.seed(7)
    before = rng_fingerprints()["numpy"]
    assert rng_fingerprints()["numpy"] == before
    expected = numpy.random.RandomState(7).rand()
    assert numpy.random.rand() == expected
    assert rng_fingerprints()["numpy"] != before
    numpy.random.seed(7)
    assert rng_fingerprints()["numpy"] == before


def test_frameworks_that_are_not_imported_have_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "torch.cuda", "numpy", "numpy.random"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert set(rng_fingerprints()) == {"python"}


def test_metric_and_artifact_reach_the_journal(kernel: Recorded) -> None:
    kernel.run(
        "import clusterbridge as cb",
        f"cb.metric('accuracy', 0.5, step=3); cb.artifact({str(kernel.folder / 'out' / 'm.pt')!r})",
    )
    assert kernel.events(MetricLogged) == [MetricLogged(2, "accuracy", 0.5, 3)]
    assert kernel.events(ArtifactDeclared) == [ArtifactDeclared(2, "out/m.pt")]


def test_the_environment_is_written_once_and_again_when_it_changed(kernel: Recorded) -> None:
    kernel.run("x = 1", "x = 2", "x = 3")
    assert len(kernel.events(EnvironmentSeen)) <= 2
    count = len(kernel.events(EnvironmentSeen))
    kernel.run("import colorsys, wave, this_is_not_there" if False else "x = 4")
    assert len(kernel.events(EnvironmentSeen)) == count


def test_an_environment_that_cannot_be_observed_costs_one_log_line(
    kernel: Recorded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_clusterbridge.runtime.environment", None)
    kernel.run("x = 1", "x = 2")
    assert [event.status for event in kernel.events(CellEnd)] == ["ok", "ok"]
    assert [record.message for record in caplog.records] == ["the environment could not be observed"]


def test_unloading_leaves_no_callback_and_no_finder(tmp_path: Path) -> None:
    finders = list(sys.meta_path)
    recorded = Recorded(tmp_path)
    before = {name: len(callbacks) for name, callbacks in recorded.shell.events.callbacks.items()}
    recorded.close()
    recorded.run("x = 1")
    assert sys.meta_path == finders
    assert recorded.events(CellStart) == []
    assert len(recorded.shell.events.callbacks["pre_run_cell"]) == before["pre_run_cell"] - 1


class _Broken(Hook):
    name = "broken"

    def install(self) -> None:
        raise OSError("install")

    def uninstall(self) -> None:
        raise OSError("uninstall")


def test_a_hook_that_fails_is_reported_once_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = (_Broken, *hook_classes())
    monkeypatch.setattr("jupyter_clusterbridge.runtime.session.hook_classes", lambda: classes)
    recorded = Recorded(tmp_path)
    result = recorded.run("x = 1", "y = 2")
    recorded.close()
    assert result.success
    assert [str(error) for error in recorded.errors] == ["install"]
    assert len(recorded.events(CellEnd)) == 2


def test_an_error_callback_that_fails_does_not_reach_the_cell(tmp_path: Path) -> None:
    def fail(error: Exception) -> None:
        raise RuntimeError("again")

    writer = JournalWriter(tmp_path / "j.jsonl", lambda error: None)
    session = Session(None, writer, root=tmp_path, on_error=fail)
    session.failed(_Broken(session), OSError("unknown hook"))
    session.on_step(lambda step: 1 / 0)
    session.step_done()
    assert session.steps == 1


def test_a_full_disk_stops_the_recording_and_not_the_cell(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    (tmp_path / ".clusterbridge").mkdir()
    recorded = Recorded(tmp_path)
    os.unlink(tmp_path / ".clusterbridge" / "kernel.jsonl")
    recorded.close()
    (tmp_path / ".clusterbridge" / "kernel.jsonl").symlink_to("/dev/full")
    recorded = Recorded(tmp_path)
    assert recorded.run("x = 1", "y = 2").success
    assert len(recorded.errors) == 1
    recorded.close()


def test_a_forked_child_is_outside_of_the_session(kernel: Recorded) -> None:
    source = (
        "import os, clusterbridge as cb\nchild = os.fork()\nif child == 0:\n"
        "    try:\n        cb.metric('from_child', 1)\n    finally:\n        os._exit(0)\nos.waitpid(child, 0)"
    )
    kernel.run(source)
    assert kernel.events(MetricLogged) == []


def test_the_heartbeat_holds_the_step_number_in_its_first_eight_bytes(tmp_path: Path) -> None:
    path = tmp_path / "record" / "heartbeat"
    assert read_heartbeat(path) is None
    heartbeat = Heartbeat(path)
    assert read_heartbeat(path) == Beat(0, 0.0)
    writer = JournalWriter(tmp_path / "j.jsonl", lambda error: None)
    session = Session(None, writer, root=tmp_path, on_error=lambda error: None, heartbeat=heartbeat)
    session.step_done()
    session.step_done()
    assert int.from_bytes(path.read_bytes()[:8], "little") == 2
    beat = read_heartbeat(path)
    assert beat is not None
    assert beat.step == 2
    assert beat.at > 0
    heartbeat.close()


def test_an_import_is_noticed_after_the_modules_code_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "cb_watched.py").write_text("value = 1\n")
    sys.path.insert(0, str(tmp_path))
    seen: list[object] = []
    watch = ImportWatch({"cb_watched"}, lambda: seen.append(getattr(sys.modules["cb_watched"], "value", None)))
    watch.start()
    watch.start()
    try:
        import cb_watched

        assert seen == [1]
        assert type(cb_watched.__loader__).__name__ == "SourceFileLoader"
        assert cb_watched.__spec__.loader is cb_watched.__loader__
    finally:
        watch.stop()
        watch.stop()
        sys.path.remove(str(tmp_path))
        sys.modules.pop("cb_watched", None)
    assert watch not in sys.meta_path


def test_an_import_that_fails_in_a_watched_module_fails_as_always(tmp_path: Path) -> None:
    (tmp_path / "cb_failing.py").write_text("1 / 0\n")
    sys.path.insert(0, str(tmp_path))
    watch = ImportWatch({"cb_failing", "cb_absent"}, lambda: None)
    watch.start()
    try:
        with pytest.raises(ZeroDivisionError):
            import cb_failing  # noqa: F401
        with pytest.raises(ModuleNotFoundError):
            import cb_absent  # noqa: F401
    finally:
        watch.stop()
        sys.path.remove(str(tmp_path))


def test_without_a_session_metric_and_artifact_do_nothing() -> None:
    api.set_sink(None)
    api.metric("a", object())  # type: ignore[arg-type]
    api.artifact("nowhere")
