"""Files that cells read, write and list."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_kit import Recorded

from jupyter_clusterbridge.model.canonical import digest_lines, digest_text
from jupyter_clusterbridge.model.events import FileRead, FileWrite, Listing


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    folder = tmp_path / "nb"
    folder.mkdir()
    (folder / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "outside.txt").write_text("far")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    recorded = Recorded(folder)
    _let_the_file_clock_tick()
    yield recorded
    recorded.close()
    assert recorded.errors == []


def _let_the_file_clock_tick() -> None:
    time.sleep(0.03)


def _reads(kernel: Recorded) -> dict[str, str | None]:
    return {event.path: event.digest for event in kernel.events(FileRead) if not event.own}


@pytest.mark.parametrize(
    "source",
    [
        "open('data.csv').read()",
        "import pathlib; pathlib.Path('data.csv').read_bytes()",
        "import os; os.close(os.open('data.csv', os.O_RDONLY))",
        "import io; io.open(b'data.csv', 'rb').close()",
        "import threading; t = threading.Thread(target=lambda: open('data.csv').close()); t.start(); t.join()",
    ],
)
def test_a_file_that_a_cell_reads_is_recorded_with_its_digest(kernel: Recorded, source: str) -> None:
    kernel.run(source)
    assert kernel.events(FileRead) == [FileRead(1, "data.csv", 8, digest_text("a,b\n1,2\n"))]


def test_a_file_is_reported_once_a_run_and_again_in_the_next(kernel: Recorded) -> None:
    kernel.run("open('data.csv').read(); open('data.csv').read()", "open('data.csv').read()")
    assert [event.run for event in kernel.events(FileRead)] == [1, 2]


def test_a_file_outside_is_named_by_its_place(kernel: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = kernel.folder.parent / "outside.txt"
    kernel.run(f"open({str(outside)!r}).read()")
    monkeypatch.setenv("HOME", str(kernel.folder.parent))
    kernel.run(f"open({str(outside)!r}).read()")
    assert [event.path for event in kernel.events(FileRead)] == [str(outside), "~/outside.txt"]


def test_a_write_is_a_write_and_reading_it_back_is_a_read_of_the_kernels_own(kernel: Recorded) -> None:
    kernel.run("open('out.txt', 'w').write('x'); open('out.txt').read()", "open('out.txt').read()")
    assert kernel.events(FileWrite) == [FileWrite(1, "out.txt", digest_text("x"))]
    assert kernel.events(FileRead) == [FileRead(2, "out.txt", 1, digest_text("x"), own=True)]


def test_a_file_put_in_place_by_a_rename_is_a_write(kernel: Recorded) -> None:
    kernel.run("import os; open('t', 'w').close(); os.replace('t', 'final.txt'); open('final.txt').read()")
    assert [event.path for event in kernel.events(FileWrite)] == ["t", "final.txt"]
    assert kernel.events(FileRead) == []


def test_a_file_that_a_shell_escape_makes_is_no_data(kernel: Recorded) -> None:
    kernel.run(
        "import subprocess, time; time.sleep(0.02)\nsubprocess.run('sleep 0.02; echo x > made.txt', shell=True)"
    )
    kernel.run("open('made.txt').read()")
    assert _reads(kernel) == {}
    assert kernel.events(FileWrite) == [FileWrite(1, "made.txt", digest_text("x\n"))]
    assert [(event.run, event.own) for event in kernel.events(FileRead)] == [(2, True)]


def test_a_file_that_is_read_and_then_overwritten_has_the_digest_of_what_was_read(kernel: Recorded) -> None:
    kernel.run("text = open('data.csv').read(); open('data.csv', 'w').write(text.upper())")
    assert _reads(kernel) == {"data.csv": digest_text("a,b\n1,2\n")}
    assert [event.path for event in kernel.events(FileWrite)] == ["data.csv"]


def test_appending_and_updating_in_place_read_and_write(kernel: Recorded) -> None:
    kernel.run("open('data.csv', 'a').write('3,4\\n')")
    assert _reads(kernel) == {"data.csv": digest_text("a,b\n1,2\n")}
    assert kernel.events(FileWrite) == [FileWrite(1, "data.csv", digest_text("a,b\n1,2\n3,4\n"), appends=True)]


def test_a_changed_file_gets_a_new_digest(kernel: Recorded) -> None:
    kernel.run("open('data.csv').read()")
    (kernel.folder / "data.csv").write_text("other")
    _let_the_file_clock_tick()
    kernel.run("open('data.csv').read()")
    digests = [event.digest for event in kernel.events(FileRead)]
    assert digests == [digest_text("a,b\n1,2\n"), digest_text("other")]


def test_a_large_file_has_a_size_and_no_digest(kernel: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_clusterbridge.runtime.file_digests.MAX_FILE", 4)
    kernel.run("open('data.csv').read()")
    assert kernel.events(FileRead) == [FileRead(1, "data.csv", 8, None)]


def test_a_file_that_is_gone_at_the_end_or_never_was_is_not_recorded(kernel: Recorded) -> None:
    kernel.run(
        "import os\nopen('data.csv').read(); os.remove('data.csv')\ntry: open('x.csv')\nexcept OSError: pass"
    )
    assert kernel.events(FileRead) == []


def test_a_module_of_the_folder_counts_even_when_only_its_byte_code_was_read(kernel: Recorded) -> None:
    (kernel.folder / "cb_helper.py").write_text("X = 1\n")
    os.utime(kernel.folder / "cb_helper.py", (1, 1))
    kernel.run("import cb_helper", "import sys; del sys.modules['cb_helper']", "import cb_helper")
    assert [(event.run, event.path) for event in kernel.events(FileRead)] == [
        (1, "cb_helper.py"),
        (3, "cb_helper.py"),
    ]
    assert kernel.events(FileWrite) == []
    assert kernel.events(Listing) == []


def test_what_belongs_to_python_jupyter_and_us_is_not_recorded(kernel: Recorded) -> None:
    for name in (".clusterbridge/x", ".ipynb_checkpoints/x", "__pycache__/x", "a.pyc"):
        path = kernel.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    sources = [
        "import os, json; open(json.__file__).read()",
        "open('/proc/self/status').read(); open('/dev/null', 'w').close(); open('/etc/hostname').read()",
        "for n in ('.clusterbridge/x', '.ipynb_checkpoints/x', '__pycache__/x', 'a.pyc'): open(n).read()",
        "import colorsys, plistlib, sndhdr if False else colorsys",
        "1 / 0",
    ]
    kernel.run(*sources)
    assert kernel.events(FileRead) == kernel.events(FileWrite) == kernel.events(Listing) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.listdir('images')",
        "import glob; glob.glob('images/*.png')",
        "import pathlib; list(pathlib.Path('images').iterdir())",
        "import os; list(os.scandir('images'))",
        "import os; list(os.walk('images'))",
    ],
)
def test_a_listing_is_recorded_with_the_order_that_the_system_gave(kernel: Recorded, source: str) -> None:
    (kernel.folder / "images").mkdir()
    for name in ("b.png", "a.png", "c.png"):
        (kernel.folder / "images" / name).write_text(name)
    kernel.run(source)
    (found,) = kernel.events(Listing)
    names = os.listdir(kernel.folder / "images")
    assert (found.path, found.count) == ("images", 3)
    assert found.order_digest == digest_lines(names)
    assert found.set_digest == digest_lines(["a.png", "b.png", "c.png"])


def test_a_listing_shows_the_folder_as_it_was_then_and_not_our_own_folders(kernel: Recorded) -> None:
    kernel.run("import os; os.listdir(); open('later.txt', 'w').close()")
    (found,) = kernel.events(Listing)
    assert (found.path, found.count) == (".", 1)


def test_nothing_is_collected_between_cells_and_after_the_end(kernel: Recorded) -> None:
    (kernel.folder / "data.csv").read_text()
    kernel.run("x = 1")
    kernel.close()
    kernel.run("open('data.csv').read()")
    assert kernel.events(FileRead) == []


def test_files_of_many_threads_are_all_seen(kernel: Recorded) -> None:
    for number in range(40):
        (kernel.folder / f"part{number}").write_text(str(number))
    _let_the_file_clock_tick()
    kernel.shell.user_ns["threading"] = threading
    kernel.run(
        "ts = [threading.Thread(target=lambda n=n: open(f'part{n}').read()) for n in range(40)]\n"
        "for t in ts: t.start()\nfor t in ts: t.join()"
    )
    assert len(_reads(kernel)) == 40


def test_very_many_files_are_cut_off_with_one_line(
    kernel: Recorded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("jupyter_clusterbridge.runtime.hooks.files.MAX_PATHS", 3)
    kernel.run("for n in range(9): open(f'f{n}', 'w').close()")
    assert len(kernel.events(FileWrite)) == 3
    assert len([record for record in caplog.records if "are not recorded" in record.message]) == 1
