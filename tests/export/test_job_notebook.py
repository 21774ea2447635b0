"""The notebook of a bundle."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from jupyter_clusterbridge.export.notebook import code_digests, job_notebook, read_raw
from jupyter_clusterbridge.export.unattended import check_unattended
from jupyter_clusterbridge.model.errors import NotExportable


def document(path: Any, injected: str = "") -> Any:
    return job_notebook(*read_raw(path), injected).document


def test_outputs_counts_and_volatile_metadata_are_gone(make_notebook: Any) -> None:
    found = document(make_notebook("#tag\nx = 1", "print(x)"))
    assert found["cells"][1] == {
        "cell_type": "code",
        "id": "c1",
        "metadata": {},
        "source": ["print(x)"],
        "execution_count": None,
        "outputs": [],
    }
    assert found["cells"][0]["metadata"] == {"tags": ["parameters"]}
    assert sorted(found["metadata"]) == ["kernelspec", "language_info"]


@pytest.mark.parametrize("minor", [0, 4, 5])
def test_the_result_is_a_valid_notebook_with_ids(make_notebook: Any, minor: int) -> None:
    found = document(make_notebook("x = 1", "x = 1", minor=minor))
    nbformat.validate(nbformat.from_dict(found))
    assert len({cell["id"] for cell in found["cells"]}) == 2


def test_ids_of_an_old_notebook_are_those_that_the_journal_uses(make_notebook: Any) -> None:
    path = make_notebook("x = 1", "x = 2", minor=4)
    notebook, _ = read_raw(path)
    assert [cell["id"] for cell in document(path)["cells"]] == [cell.id for cell in notebook.cells]


def test_twice_the_same_id_becomes_two_ids(make_notebook: Any) -> None:
    path = make_notebook("x = 1", "x = 2")
    raw = json.loads(path.read_text())
    raw["cells"][1]["id"] = "c0"
    path.write_text(json.dumps(raw))
    assert [cell["id"] for cell in document(path)["cells"]] == ["c0", "c0-1"]


def test_a_cell_that_an_injection_left_is_replaced(make_notebook: Any) -> None:
    path = make_notebook("#tag\nx = 1", "x = 5", "print(x)")
    raw = json.loads(path.read_text())
    raw["cells"][1]["metadata"]["tags"] = ["injected-parameters"]
    path.write_text(json.dumps(raw))
    sources = ["".join(cell["source"]) for cell in document(path, "x = 9")["cells"]]
    assert sources == ["#tag\nx = 1", "x = 9", "print(x)"]


def test_magics_stay_as_they_are(make_notebook: Any) -> None:
    sources = ["%matplotlib inline\nx = 1", "%env OMP_NUM_THREADS=1", "!pip install numpy"]
    path = make_notebook(*sources)
    check_unattended(read_raw(path)[0])
    assert ["".join(cell["source"]) for cell in document(path)["cells"]] == sources


def test_line_ends_and_trailing_space_are_no_other_code(make_notebook: Any) -> None:
    one = read_raw(make_notebook("x = 1\ny = 2", "", name="a.ipynb"))[0]
    two = read_raw(make_notebook("x = 1\r\ny = 2  \n\n", name="b.ipynb"))[0]
    assert code_digests(one) == code_digests(two)


def test_a_cell_that_is_no_python_is_refused_with_its_place(make_notebook: Any) -> None:
    with pytest.raises(NotExportable, match="cell 1, line 2 is not valid Python"):
        check_unattended(read_raw(make_notebook("x = 1", "y = 2\ndef f(:"))[0])


def test_a_notebook_without_code_is_refused(make_notebook: Any) -> None:
    with pytest.raises(NotExportable, match="no code"):
        check_unattended(read_raw(make_notebook(""))[0])
