"""Sizes, durations, dense evidence, errors and the bundle's small types."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from jupyter_clusterbridge.model.errors import DocumentInvalid, NotebookUnreadable, ResourceInvalid
from jupyter_clusterbridge.model.evidence import MAGIC, ROW, Row, RowKind, loss_bits, loss_value, read_rows
from jupyter_clusterbridge.model.lock import BaseImage
from jupyter_clusterbridge.model.resources import parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4g", 4 << 30),
        ("4G", 4 << 30),
        ("4GiB", 4 << 30),
        ("4gb", 4 << 30),
        ("1.5k", 1536),
        ("7", 7),
        (" 64 m ", 64 << 20),
    ],
)
def test_sizes_are_read_as_docker_reads_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("6h", 21600), ("1.5H", 5400), ("2d", 172800)]
)
def test_durations_are_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "g", "-1g", "0", "4x", "4 g b", "1e3", "nan", "1,5g", "0.0g"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ResourceInvalid, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("text", ["", "h", "-1h", "0", "4w", "1:30", "inf", "1h30m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ResourceInvalid, match="is not a duration"):
        parse_duration(text)


def test_rows_are_read_back_as_they_were(tmp_path: Path) -> None:
    rows = [Row(RowKind.BATCH, 1, i, (1 << 64) - 1 - i, i) for i in range(5000)]
    path = tmp_path / "steps.bin"
    path.write_bytes(MAGIC + b"".join(row.pack() for row in rows))
    assert list(read_rows(path)) == rows


def test_a_row_has_its_fixed_width() -> None:
    assert ROW.size == len(Row(RowKind.LOSS, 0, 0, 0, 0).pack()) == 32


@pytest.mark.parametrize("torn", range(1, 32, 5))
def test_a_torn_last_row_is_dropped(torn: int, tmp_path: Path) -> None:
    rows = [Row(RowKind.STEP, 0, i, i, 0) for i in range(3)]
    path = tmp_path / "steps.bin"
    path.write_bytes(MAGIC + b"".join(row.pack() for row in rows)[:-torn])
    assert list(read_rows(path)) == rows[:2]


@pytest.mark.parametrize("content", [b"", b"CBEV", b"CBEV\x02\x00\x00\x00", b"something else"])
def test_another_file_is_no_steps_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "steps.bin"
    path.write_bytes(content)
    with pytest.raises(DocumentInvalid, match="not a steps file"):
        list(read_rows(path))


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -2.5e-310, math.inf, math.pi])
def test_the_bits_of_a_loss_hold_its_value(value: float) -> None:
    assert math.copysign(1, loss_value(loss_bits(value))) == math.copysign(1, value)
    assert loss_value(loss_bits(value)) == value


def test_the_bits_of_nan_are_nan() -> None:
    assert math.isnan(loss_value(loss_bits(math.nan)))


def test_an_error_says_what_and_what_next() -> None:
    error = NotebookUnreadable("x: is gone")
    assert (str(error), error.next_step) == ("x: is gone", NotebookUnreadable.hint)
    assert NotebookUnreadable("x", hint="Look.").next_step == "Look."


def test_an_image_without_a_digest_floats() -> None:
    assert BaseImage("python:3.11").floating
    assert not BaseImage("python:3.11", digest="sha256:0").floating
