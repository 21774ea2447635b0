"""The journal survives a kill, a full disk, a foreign hand and a newer version."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import jsonschema
import pytest

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.model.errors import DocumentTooNew, JournalUnreadable
from jupyter_clusterbridge.model.events import (
    CellEnd,
    CellStart,
    EnvironmentSeen,
    Event,
    FileRead,
    FileWrite,
    KernelEnd,
    KernelStart,
    Listing,
)
from jupyter_clusterbridge.model.evidence import Row, RowKind, read_rows
from jupyter_clusterbridge.runtime.journal import (
    JournalWriter,
    journal_folder,
    read_journal,
    read_journals,
    steps_path,
)

START = KernelStart(kernel_id="k", role="notebook", python="3.11.7", at="2026-01-01T00:00:00Z")
EVENTS: list[Event] = [
    START,
    CellStart(1, "a", "x = 1\ny = 'é'", "2026-01-01T00:00:01Z", rng={"python": "1"}, deleted_cells=("b",)),
    FileWrite(1, "out.txt"),
    CellEnd(1, "ok", "2026-01-01T00:00:02Z", 0.5, writes=("name:x",), mutates=("name:x",)),
    KernelEnd("2026-01-01T00:00:03Z"),
]


def fail_test(error: OSError) -> None:
    pytest.fail(f"the journal could not be written: {error}")


def write(path: Path, *events: Event) -> Path:
    writer = JournalWriter(path, fail_test)
    for event in events:
        writer.write(event)
    writer.close()
    return path


def test_events_are_read_back_as_they_were(tmp_path: Path) -> None:
    journal = read_journal(write(tmp_path / "k.jsonl", *EVENTS))
    assert list(journal.events) == EVENTS
    assert journal.start == START
    assert not journal.torn


def test_each_event_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "k.jsonl", fail_test)
    for count, event in enumerate(EVENTS, start=1):
        writer.write(event)
        assert len(read_journal(tmp_path / "k.jsonl").events) == count
    writer.close()


@pytest.mark.parametrize("lost", [1, 2, 10, 40])
def test_a_torn_last_line_is_dropped(lost: int, tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", *EVENTS)
    path.write_bytes(path.read_bytes()[:-lost])
    journal = read_journal(path)
    assert list(journal.events) == EVENTS[:-1]
    assert journal.torn


def test_a_torn_line_of_half_a_character_is_dropped(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    path.write_bytes(path.read_bytes() + b'{"event":"cell_start","source":"\xc3')
    assert read_journal(path).torn


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"{}\n",
        b"[]\n",
        b"\n",
        b'{"event":"other"}\n',
        b'{"event":"file_write","run":"x","path":1}\n',
        b"\xff\n",
    ],
)
def test_a_foreign_line_is_refused_with_its_number(line: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", *EVENTS[:2])
    path.write_bytes(path.read_bytes() + line + b'{"event":"kernel_end","at":"x"}\n')
    with pytest.raises(JournalUnreadable, match="line 3 was not written by ClusterBridge"):
        read_journal(path)


def test_a_line_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    path.write_bytes(path.read_bytes() + b"[" * 200_000 + b"\n")
    with pytest.raises(JournalUnreadable, match="line 2"):
        read_journal(path)


@pytest.mark.parametrize("content", [b"", b'{"event":"kernel_end","at":"x"}\n', b'{"event":"kernel_st'])
def test_a_file_that_does_not_begin_with_a_kernel_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "k.jsonl"
    path.write_bytes(content)
    with pytest.raises(JournalUnreadable, match="does not begin with the start of a kernel"):
        read_journal(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalUnreadable, match="cannot be read"):
        read_journal(tmp_path / "none.jsonl")


def test_a_newer_journal_is_refused_as_such(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    path.write_bytes(path.read_bytes().replace(b"clusterbridge/journal/2", b"clusterbridge/journal/3"))
    with pytest.raises(DocumentTooNew, match="newer version"):
        read_journal(path)


def test_a_newer_journal_with_events_unknown_here_is_refused_as_newer(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    newer = path.read_bytes().replace(b"clusterbridge/journal/2", b"clusterbridge/journal/3")
    path.write_bytes(newer + b'{"event":"dream"}\n')
    with pytest.raises(DocumentTooNew):
        read_journal(path)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from jupyter_clusterbridge.model.events import FileWrite, KernelStart
from jupyter_clusterbridge.model.evidence import Row, RowKind
from jupyter_clusterbridge.runtime.journal import JournalWriter

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))
failures = []
writer = JournalWriter(Path(sys.argv[1]), failures.append)
writer.write(KernelStart("k", "notebook", "3", "now"))
for i in range(2000):
    if sys.argv[2] == "events":
        writer.write(FileWrite(i, "x" * 40))
    else:
        writer.row(Row(RowKind.STEP, 0, i, i, 0))
writer.flush()
writer.close()
print(len(failures), writer.failed)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a matter of Unix")
@pytest.mark.parametrize("what", ["events", "rows"])
def test_a_full_disk_ends_the_recording_with_one_call_and_no_exception(what: str, tmp_path: Path) -> None:
    path = tmp_path / "k.jsonl"
    command = [sys.executable, "-c", FULL_DISK, str(path), what]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.split() == ["1", "True"]
    assert read_journal(path).start.kernel_id == "k"
    if what == "rows":
        assert len(list(read_rows(steps_path(path)))) > 100


def test_a_folder_that_cannot_be_made_ends_the_recording_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    failures: list[OSError] = []
    writer = JournalWriter(tmp_path / "file" / "k.jsonl", failures.append)
    writer.write(START)
    writer.row(Row(RowKind.STEP, 0, 0, 0, 0))
    writer.close()
    assert len(failures) == 1
    assert writer.failed


KILLED = """
import sys, time
from pathlib import Path
from jupyter_clusterbridge.model.events import FileWrite, KernelStart
from jupyter_clusterbridge.runtime.journal import JournalWriter

writer = JournalWriter(Path(sys.argv[1]), print)
writer.write(KernelStart("k", "notebook", "3", "now"))
i = 0
while True:
    i += 1
    writer.write(FileWrite(i, "x"))
    if i == 500:
        print("ready", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a matter of Unix")
def test_a_killed_process_leaves_a_journal_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "k.jsonl"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    events = read_journal(path).events
    assert [event.run for event in events[1:]] == list(range(1, len(events)))  # type: ignore[union-attr]
    assert len(events) > 500


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "k.jsonl", fail_test)
    writer.write(START)
    threads = [
        threading.Thread(target=lambda n=n: [writer.write(FileWrite(n, "x" * 500)) for _ in range(100)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert len(read_journal(tmp_path / "k.jsonl").events) == 401


def test_rows_are_buffered_and_flushed(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "k.jsonl", fail_test)
    rows = [Row(RowKind.LOSS, 1, i, i, 1) for i in range(1000)]
    for row in rows:
        writer.row(row)
    assert len(list(read_rows(steps_path(writer.path)))) < 1000
    writer.flush()
    assert list(read_rows(steps_path(writer.path))) == rows
    writer.close()


def test_no_rows_make_no_file(tmp_path: Path) -> None:
    assert not steps_path(write(tmp_path / "k.jsonl", START)).exists()


def test_writing_after_the_end_does_nothing(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "k.jsonl", fail_test)
    writer.write(START)
    writer.close()
    writer.write(EVENTS[2])
    writer.row(Row(RowKind.STEP, 0, 0, 0, 0))
    writer.close()
    assert len(read_journal(tmp_path / "k.jsonl").events) == 1
    assert not steps_path(writer.path).exists()


def test_a_second_writer_of_one_kernel_appends(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    write(path, EVENTS[2])
    assert list(read_journal(path).events) == [START, EVENTS[2]]


def test_a_second_writer_after_a_kill_begins_a_line_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START, EVENTS[2])
    path.write_bytes(path.read_bytes()[:-5])
    write(path, EVENTS[4])
    assert list(read_journal(path).events) == [START, EVENTS[4]]


@pytest.mark.parametrize("lost", [1, 31, 33])
def test_a_second_writer_after_a_kill_begins_a_row_of_its_own(lost: int, tmp_path: Path) -> None:
    rows = [Row(RowKind.STEP, 0, i, i, 0) for i in range(3)]
    path = tmp_path / "k.jsonl"
    for row in rows:
        writer = JournalWriter(path, fail_test)
        writer.row(row)
        writer.close()
    assert list(read_rows(steps_path(path))) == rows
    steps = steps_path(path)
    steps.write_bytes(steps.read_bytes()[:-lost])
    writer = JournalWriter(path, fail_test)
    writer.row(rows[2])
    writer.close()
    assert list(read_rows(steps)) == [*rows[: 3 - -(-lost // 32)], rows[2]]


def test_journals_come_oldest_kernel_first_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    folder = journal_folder(notebook)
    later = KernelStart(kernel_id="a", role="notebook", python="3", at="2026-02-01T00:00:00Z")
    write(folder / "a.jsonl", later)
    write(folder / "b.jsonl", START)
    (folder / "c.jsonl").write_bytes(b'{"event":"ker')
    (folder / "note.txt").write_text("mine")
    assert [journal.start.kernel_id for journal in read_journals(notebook)] == ["k", "a"]


def test_a_notebook_without_journals_has_none(tmp_path: Path) -> None:
    assert read_journals(tmp_path / "n.ipynb") == ()


def test_journals_lie_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERBRIDGE_HOME", str(tmp_path / "home"))
    assert journal_folder(tmp_path / "n.ipynb") == tmp_path / ".clusterbridge" / "n"


def test_journals_lie_elsewhere_when_the_folder_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.access("/proc", os.W_OK) and os.geteuid() != 0:
        pytest.skip("every folder can be written here")
    monkeypatch.setenv("CLUSTERBRIDGE_HOME", "/somewhere")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert journal_folder(Path("/proc/n.ipynb")) == Path("/somewhere/n")


def environment(**versions: str) -> Environment:
    loaded = tuple(Distribution(name, version) for name, version in sorted(versions.items()))
    return Environment("3.11.7", distributions=loaded)


REPEATED: list[Event] = [
    START,
    CellStart(1, "a", LONG := "x = 1  # " + "long " * 40, "2026"),
    EnvironmentSeen(1, environment(numpy="1", pandas="2", torch="3")),
    FileRead(1, "data.csv", 10, "sha256:1"),
    FileWrite(1, "out.csv"),
    Listing(1, "data", 2, "sha256:2", "sha256:3"),
    CellStart(2, "a", LONG, "2026"),
    EnvironmentSeen(2, environment(numpy="1", pandas="2.1", xgboost="4")),
    FileRead(2, "data.csv", 10, "sha256:1"),
    FileRead(2, "data.csv", 11, "sha256:4"),
    FileWrite(2, "out.csv"),
    Listing(2, "data", 2, "sha256:2", "sha256:3"),
    CellStart(3, "b", LONG, "2026"),
    EnvironmentSeen(3, environment()),
    FileRead(3, "data.csv", 11, "sha256:4"),
    FileRead(3, "data.csv", 10, "sha256:1"),
]


def test_what_stood_before_is_named_and_read_back_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", *REPEATED)
    assert list(read_journal(path).events) == REPEATED
    content = path.read_bytes()
    assert content.count(LONG.encode()) == 1
    assert content.count(b"data.csv") == 2
    assert content.count(b'"numpy"') == 1 + 1  # once as gone


def test_each_line_that_names_another_keeps_to_the_schema(tmp_path: Path, repository: Path) -> None:
    schema = json.loads((repository / "docs" / "schemas" / "journal.json").read_bytes())
    for line in write(tmp_path / "k.jsonl", *REPEATED).read_bytes().splitlines():
        jsonschema.validate(json.loads(line), schema, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("cut", range(1, len(REPEATED)))
def test_a_journal_that_goes_on_after_a_kill_names_nothing_that_was_lost(cut: int, tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", *REPEATED[:cut])
    path.write_bytes(path.read_bytes() + b'{"event":"file_re')
    write(path, *REPEATED[cut:])
    assert list(read_journal(path).events) == REPEATED


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"cell_start","run":1,"cell_id":null,"at":"2026","source_digest":"sha256:0"}',
        b'{"event":"cell_start","run":1,"cell_id":null,"at":"2026"}',
        b'{"event":"file_read","run":1,"again":1}',
        b'{"event":"file_read","run":1,"again":2}',
        b'{"event":"file_read","run":1,"again":0}',
        b'{"event":"listing","run":1,"again":"x"}',
    ],
)
def test_a_line_that_names_what_never_stood_there_is_refused(line: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "k.jsonl", START)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(JournalUnreadable, match="line 2"):
        read_journal(path)


def test_a_journal_of_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(
        b'{"event":"kernel_start","schema":"clusterbridge/journal/1","kernel_id":"k","role":"notebook",'
        b'"python":"3.11.7","at":"2026"}\n'
        b'{"at":"2026","cell_id":"a","deleted_cells":[],"event":"cell_start","rng":{},"run":1,"source":"x = 1"}\n'
        b'{"event":"environment","run":1,"environment":{"schema":"clusterbridge/environment/1","python":"3.11.7"}}\n'
    )
    assert list(read_journal(path).events[1:]) == [
        CellStart(1, "a", "x = 1", "2026"),
        EnvironmentSeen(1, Environment("3.11.7")),
    ]
