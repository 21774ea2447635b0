"""One byte form for one value, and dataclasses to JSON and back."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from jupyter_clusterbridge.model.canonical import (
    canonical_json,
    digest_bytes,
    digest_file,
    digest_json,
    digest_lines,
    digest_text,
    pretty_json,
    short,
)
from jupyter_clusterbridge.model.codec import from_json, json_schema, to_json
from jupyter_clusterbridge.model.errors import DocumentInvalid, DocumentTooNew
from jupyter_clusterbridge.model.identity import Identity


class Colour(str, enum.Enum):
    RED = "red"


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    share: float = 0.5


@dataclasses.dataclass(frozen=True)
class Document:
    SCHEMA: ClassVar[str] = "clusterbridge/test/2"

    parts: tuple[Part, ...]
    colour: Colour = Colour.RED
    labels: Mapping[str, int] = dataclasses.field(default_factory=dict)
    value: bool | int | float | str | None = None
    note: str | None = dataclasses.field(default=None, metadata={"omit_none": True})


def plain(**changes: object) -> dict[str, object]:
    return {"schema": "clusterbridge/test/2", "parts": [], **changes}


def test_the_order_of_keys_does_not_change_the_bytes() -> None:
    assert canonical_json({"b": 1, "a": {"d": 2, "c": 3}}) == canonical_json({"a": {"c": 3, "d": 2}, "b": 1})


def test_text_is_written_as_it_is() -> None:
    assert canonical_json("é\n") == '"é\\n"'.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_json_has_no_form_for_is_refused(value: float) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)
    with pytest.raises(ValueError):
        pretty_json(value)


def test_pretty_json_holds_the_same_value_and_ends_with_a_newline() -> None:
    value = {"b": [1, 2], "a": None}
    assert json.loads(pretty_json(value)) == value
    assert pretty_json(value).endswith(b"}\n")


def test_digests_name_their_algorithm() -> None:
    expected = "sha256:" + hashlib.sha256(b"abc").hexdigest()
    assert digest_bytes(b"abc") == digest_text("abc") == expected
    assert short(expected) == expected[7:19]


def test_the_digest_of_text_takes_lone_surrogates() -> None:
    assert digest_text("\ud800") != digest_text("\ud801")


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "data").write_bytes(content)
    assert digest_file(tmp_path / "data") == digest_bytes(content)


def test_no_two_sequences_of_lines_share_a_digest_by_joining() -> None:
    assert digest_lines(["a", "b"]) != digest_lines(["a\nb"])
    assert digest_lines(["a", "b"]) != digest_lines(["b", "a"])
    assert digest_lines([]) != digest_lines([""])


def test_an_identity_is_the_digest_of_its_five_parts() -> None:
    parts = {"code": "1", "env": "2", "data": "3", "order": "4", "seeds": "5"}
    one = Identity.of(**parts)
    assert one.model == digest_json(parts)
    for name in parts:
        assert Identity.of(**{**parts, name: "other"}).model != one.model


def test_a_document_is_read_back_as_it_was() -> None:
    document = Document((Part("a"), Part("b", 1.0)), labels={"x": 1}, value=1.5, note="n")
    assert from_json(Document, json.loads(canonical_json(to_json(document)))) == document


def test_the_schema_is_written_and_a_field_that_may_be_left_out_is() -> None:
    assert to_json(Document(())) == plain(colour="red", labels={}, value=None)
    assert to_json(Document((), note="n"))["note"] == "n"  # type: ignore[call-overload,index]


@pytest.mark.parametrize(("value", "text"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_numbers_that_json_has_no_form_for_become_words(value: float, text: str) -> None:
    written = to_json(Part("a", value))
    assert written == {"name": "a", "share": text}
    assert repr(from_json(Part, written).share) == repr(value)


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", None])
def test_a_value_of_several_types_keeps_its_type(value: object) -> None:
    read = from_json(Document, plain(value=value)).value
    assert (type(read), read) == (type(value), value)


def test_a_set_is_written_in_order() -> None:
    assert to_json({"b", "a", "c"}) == ["a", "b", "c"]


def test_unknown_keys_are_ignored_and_missing_ones_take_their_default() -> None:
    assert from_json(Document, plain(later="x")) == Document(())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "document: expected an object, found list"),
        ({"parts": []}, "no schema is named"),
        (
            plain(schema="clusterbridge/other/2"),
            "schema clusterbridge/other/2 where clusterbridge/test/2 was expected",
        ),
        (plain(schema=2), "no schema is named"),
        (plain(schema="clusterbridge/test/x"), "was expected"),
        ({"schema": "clusterbridge/test/2"}, "the key 'parts' is missing"),
        (plain(parts={}), "document.parts: expected a list, found dict"),
        (plain(parts=[{"name": 1}]), r"document.parts\[0\].name: expected str, found int"),
        (plain(parts=[{"name": "a", "share": True}]), "expected float, found bool"),
        (plain(colour="blue"), "document.colour: 'blue' is not a valid"),
        (plain(labels={"x": "1"}), "document.labels.x: expected int, found str"),
        (plain(value=[]), "document.value: expected"),
    ],
)
def test_a_document_of_another_form_is_refused_with_the_place(data: object, words: str) -> None:
    with pytest.raises(DocumentInvalid, match=words):
        from_json(Document, data)


def test_a_newer_document_is_refused_as_such() -> None:
    with pytest.raises(DocumentTooNew, match="written by a newer version") as caught:
        from_json(Document, plain(schema="clusterbridge/test/3"))
    assert "Upgrade" in caught.value.next_step


def test_an_older_document_is_read() -> None:
    assert from_json(Document, plain(schema="clusterbridge/test/1")) == Document(())


def test_a_value_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no JSON form for object"):
        to_json([object()])


def test_a_schema_holds_all_that_the_class_contains() -> None:
    schema = json_schema(Document)
    assert schema["properties"]["schema"] == {"const": "clusterbridge/test/2"}  # type: ignore[index,call-overload]
    assert schema["required"] == ["schema", "parts", "colour", "labels", "value"]
    assert list(schema["$defs"]) == ["Part"]  # type: ignore[arg-type]
