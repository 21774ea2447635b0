"""Notebook files, good and bad."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.model.errors import NotebookTooOld, NotebookUnreadable, NotPython
from jupyter_clusterbridge.model.notebook import notebook_from_json, read_notebook


def content(*cells: object, **changes: object) -> dict[str, object]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **changes}


def code(source: object = "", **changes: object) -> dict[str, object]:
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **changes,
    }


def read(data: object) -> object:
    return notebook_from_json(data, Path("n.ipynb"))


def test_a_notebook_is_read_with_its_cells_in_order(repository: Path) -> None:
    notebook = read_notebook(repository / "examples" / "train_classifier.ipynb")
    assert notebook.kernel_name == "python3"
    assert [cell.index for cell in notebook.cells] == list(range(len(notebook.cells)))
    assert notebook.cells[0].kind == "markdown"
    assert notebook.code_cells[0].index == 1
    parameters = notebook.parameters_cell()
    assert parameters is not None
    assert parameters.source.startswith("SEED = 0\n")


def test_a_source_in_lines_and_in_one_text_is_the_same() -> None:
    notebook = notebook_from_json(content(code(["a\n", "b"]), code("a\nb")), Path("n.ipynb"))
    assert [cell.source for cell in notebook.cells] == ["a\nb", "a\nb"]


def test_cells_without_ids_get_ids_that_stay_and_differ() -> None:
    data = content(code("x"), code("x"), code("x", id="mine"), code("x", id=""), nbformat_minor=4)
    ids = [cell.id for cell in notebook_from_json(data, Path("n.ipynb")).cells]
    assert ids[2] == "mine"
    assert len(set(ids)) == 4
    assert ids == [cell.id for cell in notebook_from_json(data, Path("n.ipynb")).cells]


def test_odd_metadata_is_passed_over() -> None:
    cell = code(
        "x", metadata={"tags": ["a", 1, None]}, execution_count="3", outputs=[1, {"output_type": "stream"}]
    )
    (read_cell,) = notebook_from_json(content(cell, code("y") | {"cell_type": "raw"}), Path("n.ipynb")).cells[:1]
    assert (read_cell.tags, read_cell.execution_count, len(read_cell.outputs)) == (("a",), None, 1)
    assert notebook_from_json(content(metadata=[], cells=[]), Path("n.ipynb")).kernel_name is None


@pytest.mark.parametrize(
    ("raw", "error", "words"),
    [
        (b"", NotebookUnreadable, "is not valid JSON"),
        (b"not json", NotebookUnreadable, "is not valid JSON"),
        (b'{"cells": [', NotebookUnreadable, "is not valid JSON"),
        (b"\xff\xfe{}", NotebookUnreadable, "is not valid JSON"),
        (b"[" * 200_000, NotebookUnreadable, "is not valid JSON"),
        (b"3", NotebookUnreadable, "not a notebook"),
        (b"{}", NotebookUnreadable, "not a notebook"),
        (b'{"nbformat": "4"}', NotebookUnreadable, "not a notebook"),
        (b'{"nbformat": 4}', NotebookUnreadable, "has no list of cells"),
        (b'{"nbformat": 4, "cells": {}}', NotebookUnreadable, "has no list of cells"),
        (b'{"nbformat": 5, "cells": []}', NotebookUnreadable, "newer than this version knows"),
        (b'{"nbformat": 4, "cells": [1]}', NotebookUnreadable, "cell 0 has no cell_type"),
        (
            b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}',
            NotebookUnreadable,
            "has no source text",
        ),
        (b'{"nbformat": 3, "worksheets": []}', NotebookTooOld, "notebook format 3; format 4 is needed"),
        (b'{"nbformat": 2}', NotebookTooOld, "notebook format 2"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(
    raw: bytes, error: type[Exception], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.ipynb"
    path.write_bytes(raw)
    with pytest.raises(error, match=words) as caught:
        read_notebook(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"name": "julia-1.9", "language": "julia"}},
        {"kernelspec": {"language": "python"}, "language_info": {"name": "scala"}},
    ],
)
def test_another_language_is_refused(metadata: dict[str, object]) -> None:
    with pytest.raises(NotPython, match="not in Python"):
        read(content(metadata=metadata))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotebookUnreadable, match="there is no such file"):
        read_notebook(tmp_path / "none.ipynb")
    with pytest.raises(NotebookUnreadable, match="is a folder"):
        read_notebook(tmp_path)


def test_a_file_without_permission_is_refused(open_folder: Path, without_rights: Any) -> None:
    path = open_folder / "n.ipynb"
    path.write_text(json.dumps(content()))
    path.chmod(0)
    with without_rights(), pytest.raises(NotebookUnreadable, match="cannot be read"):
        read_notebook(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.ipynb")
    with pytest.raises(NotebookUnreadable, match="no regular file"):
        read_notebook(tmp_path / "n.ipynb")
