"""Parameters and the values given for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.export.parameters import apply_values, read_parameters
from jupyter_clusterbridge.model.errors import ParameterInvalid
from jupyter_clusterbridge.model.notebook import Notebook, read_notebook
from jupyter_clusterbridge.runtime.bundle import read_bundle

CELL = "#tag\nSEED = 0\nLR: float = -0.5\nNAME = 'a'\nDEBUG = False\nLIMIT = None\nLAYERS = [1, 2]\nSEED = 7\n"


@pytest.fixture
def notebook(make_notebook: Any) -> Notebook:
    return read_notebook(make_notebook(CELL, "print(SEED)"))


def test_plain_values_of_the_tagged_cell_are_parameters_with_their_last_value(notebook: Notebook) -> None:
    found = [(p.name, p.type, p.default) for p in read_parameters(notebook)]
    assert found == [
        ("SEED", "int", 7),
        ("LR", "float", -0.5),
        ("NAME", "str", "a"),
        ("DEBUG", "bool", False),
        ("LIMIT", "none", None),
    ]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("A, (B, C) = 1, x", {"A": 1}),
        ("[A, B] = -1, 'b'", {"A": -1, "B": "b"}),
        ("A = B = 1; C = 2", {"A": 1, "B": 1, "C": 2}),
        ("A = '\\ud800'", {}),
        ("A = 1\nA += 1", {}),
        ("A = 1\nif A:\n    A = 2", {}),
        ("A = 1\nA, B = f()", {}),
        ("A = 1\ndel A", {}),
        ("A = 1\nB = [A for A in x]\ndef f():\n    A = 2", {"A": 1}),
    ],
)
def test_a_parameter_is_what_the_tagged_cell_leaves(
    make_notebook: Any, cell: str, expected: dict[str, object]
) -> None:
    found = read_parameters(read_notebook(make_notebook(f"#tag\n{cell}")))
    assert {parameter.name: parameter.default for parameter in found} == expected


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SEED", "-3", -3),
        ("LR", "1e-3", 1e-3),
        ("LR", "2", 2.0),
        ("NAME", "", ""),
        ("NAME", "0.1", "0.1"),
        ("DEBUG", "true", True),
        ("LIMIT", "None", None),
        ("LIMIT", "10", 10),
        ("LIMIT", "False", False),
        ("LIMIT", "fast", "fast"),
    ],
)
def test_a_value_is_read_by_the_type_of_its_default(
    notebook: Notebook, name: str, text: str, value: object
) -> None:
    parameter = next(p for p in apply_values(notebook, {name: text}) if p.name == name)
    assert repr(parameter.value) == repr(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SEED", "1.5"),
        ("SEED", "1e3"),
        ("SEED", ""),
        ("SEED", "9" * 5000),
        ("LR", "nan"),
        ("LR", "fast"),
        ("DEBUG", "1"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_default(notebook: Notebook, name: str, text: str) -> None:
    with pytest.raises(ParameterInvalid, match=rf"{name}.*is no .*the default is"):
        apply_values(notebook, {name: text})


@pytest.mark.parametrize("text", [" 1", "1 ", "\t1"])
def test_stray_spaces_around_a_value_are_refused(notebook: Notebook, text: str) -> None:
    with pytest.raises(ParameterInvalid, match="spaces"):
        apply_values(notebook, {"SEED": text})


def test_bytes_that_are_no_text_are_refused(notebook: Notebook) -> None:
    with pytest.raises(ParameterInvalid, match="no text in UTF-8"):
        apply_values(notebook, {"NAME": "a\udcff"})


def test_stray_spaces_around_a_name_are_refused(notebook: Notebook) -> None:
    with pytest.raises(ParameterInvalid, match="'SEED ' has spaces"):
        apply_values(notebook, {"SEED ": "1"})


def test_an_unknown_name_is_refused_with_the_valid_ones(notebook: Notebook) -> None:
    with pytest.raises(ParameterInvalid, match="'EPOCHS'; valid are SEED, LR, NAME, DEBUG, LIMIT"):
        apply_values(notebook, {"EPOCHS": "1"})


def test_a_value_without_a_tagged_cell_is_refused_with_the_remedy(make_notebook: Any) -> None:
    with pytest.raises(ParameterInvalid, match="no cell tagged") as caught:
        apply_values(read_notebook(make_notebook("x = 1")), {"x": "2"})
    assert "tag it 'parameters'" in caught.value.next_step


def test_given_values_go_into_a_cell_after_the_tagged_one(make_notebook: Any, export: Any) -> None:
    bundle = export(make_notebook(CELL, "print(SEED)"), given={"SEED": "8", "LR": "-0.5"})
    cells = json.loads((bundle.folder / "notebook.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells] == ["c0", "injected-parameters", "c1"]
    assert "".join(cells[0]["source"]) == CELL
    assert "".join(cells[1]["source"]) == "# Parameters\nSEED = 8"


def test_another_value_changes_the_code_digest_and_the_default_does_not(
    make_notebook: Any, export: Any, tmp_path: Path
) -> None:
    path = make_notebook(CELL, "print(SEED)")
    plain, same, other = (
        read_bundle(export(path, tmp_path / name, given).folder).identity
        for name, given in (("a", {}), ("b", {"SEED": "7"}), ("c", {"SEED": "8"}))
    )
    assert plain == same
    assert plain.code != other.code
    assert plain.seeds == other.seeds
