"""Edits of notebook files keep every byte that they do not touch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_clusterbridge.lint.fixes import apply_edits
from jupyter_clusterbridge.lint.sources.notebook_file import NotebookFile
from jupyter_clusterbridge.model.findings import Edit

SOURCE = "é = 'x😀'\nfiles = f('ä/b')\n\n# end"
WRAP = [Edit(2, 8, 2, 8, "sorted("), Edit(2, 16, 2, 16, ")")]


def content(source: object, **layout: object) -> str:
    cell = {"cell_type": "code", "outputs": [{"text": SOURCE}], "source": source, "metadata": {"source": ["x"]}}
    book = {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": []}, cell], "metadata": {"cells": []}}
    return json.dumps(book, **layout)  # type: ignore[arg-type]


LAYOUTS = {
    "jupyter": {"indent": 1, "ensure_ascii": False},
    "escaped": {"indent": 1, "ensure_ascii": True},
    "wide": {"indent": 4, "ensure_ascii": False},
    "compact": {"separators": (",", ":")},
    "plain": {},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("form", ["lines", "text", "pieces"])
@pytest.mark.parametrize("frame", ["{}", "{}\n", "\ufeff{}", "\n {}\r\n"], ids=["bare", "newline", "bom", "space"])
def test_only_the_edited_places_change(layout: dict[str, object], form: str, frame: str) -> None:
    source = {"lines": SOURCE.splitlines(keepends=True), "text": SOURCE, "pieces": [SOURCE[:3], SOURCE[3:]]}[form]
    old = frame.format(content(source, **layout))
    new = NotebookFile(old.encode(), Path("n.ipynb")).edited({1: WRAP}).content.decode()
    head, _, tail = old.rpartition("f('")
    quoted = json.dumps("ä/b", ensure_ascii="\\u" in old)[1:-1]
    assert new == f"{head}sorted(f('{quoted}')){tail[len(quoted) + 2 :]}"


def test_windows_line_ends_between_lines_of_json_stay() -> None:
    old = content(["a = f()\n", "b"], indent=1).replace("\n", "\r\n")
    new = NotebookFile(old.encode(), Path("n.ipynb")).edited({1: [Edit(1, 4, 1, 5, "g")]}).content.decode()
    assert new == old.replace("f()", "g()")


def test_an_edit_that_adds_a_line_keeps_the_layout_of_the_list() -> None:
    old = content(["import a\n", "f()"], indent=1)
    new = (
        NotebookFile(old.encode(), Path("n.ipynb")).edited({1: [Edit(2, 0, 2, 0, "import b\n")]}).content.decode()
    )
    assert new == content(["import a\n", "import b\n", "f()"], indent=1)


def test_an_edit_that_joins_lines_keeps_the_rest(tmp_path: Path) -> None:
    old = content(["f(\n", "  a)\n", "x"], indent=1)
    new = NotebookFile(old.encode(), Path("n.ipynb")).edited({1: [Edit(1, 2, 2, 2, "")]}).content.decode()
    assert new == content(["f(a)\n", "x"], indent=1)


def test_a_list_of_one_line_grows() -> None:
    old = content(["f()"], indent=1)
    new = NotebookFile(old.encode(), Path("n.ipynb")).edited({1: [Edit(1, 0, 1, 0, "x\n")]}).content.decode()
    assert new == content(["x\n", "f()"], indent=1)


def test_a_repeated_key_counts_as_the_reader_counts_it() -> None:
    old = '{"cells": [], "nbformat": 4, "cells": [{"source": "a", "cell_type": "code", "source": "b"}]}'
    file = NotebookFile(old.encode(), Path("n.ipynb"))
    assert file.notebook.cells[0].source == "b"
    assert file.edited({0: [Edit(1, 0, 1, 1, "c")]}).content.decode() == old.replace('"b"', '"c"')


def test_lines_of_cells_are_found_in_the_file() -> None:
    text = content(SOURCE.splitlines(keepends=True), indent=1)
    file = NotebookFile(text.encode(), Path("n.ipynb"))
    assert "files = f(" in text.split("\n")[file.file_line(1, 2) - 1]
    assert file.file_line(0, 1) == 1
    compact = NotebookFile(content(SOURCE).encode(), Path("n.ipynb"))
    assert compact.file_line(1, 2) == 1


@st.composite
def edited_cells(draw: st.DrawFn) -> tuple[list[str] | str, list[Edit]]:
    source = draw(st.text(st.sampled_from('ab"\\/é😀\n\t\ud800'), max_size=30))
    lines = source.split("\n")
    edits: list[Edit] = []
    first = 0
    for _ in range(draw(st.integers(0, 3))):
        place = sorted(draw(st.lists(st.integers(first, len(source)), min_size=2, max_size=2)))
        first = place[1]
        starts = [(source[:at].count("\n"), at - source[:at].rfind("\n") - 1) for at in place]
        (line, column), (end_line, end_column) = starts
        edits.append(Edit(line + 1, column, end_line + 1, end_column, draw(st.text('x\né"', max_size=3))))
    if draw(st.booleans()):
        return source, edits
    cut = draw(st.integers(0, len(source)))
    whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return draw(st.sampled_from([whole, [source[:cut], source[cut:]]])), edits


@settings(max_examples=300, deadline=None)
@given(edited_cells(), st.sampled_from(sorted(LAYOUTS)))
def test_whatever_the_edits_the_file_reads_as_they_say(
    case: tuple[list[str] | str, list[Edit]], name: str
) -> None:
    source, edits = case
    layout = {**LAYOUTS[name], "ensure_ascii": True} if "\ud800" in "".join(source) else LAYOUTS[name]
    old = content(source, **layout)
    file = NotebookFile(old.encode(), Path("n.ipynb"))
    after = file.edited({1: edits})
    expected = json.loads(old)
    found = json.loads(after.content)
    assert after.notebook.cells[1].source == apply_edits("".join(source), edits)
    expected["cells"][1]["source"] = found["cells"][1]["source"]
    assert found == expected
    assert list(found) == list(expected)
