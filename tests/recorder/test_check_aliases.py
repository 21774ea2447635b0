"""Two names, one object, and what else shows a change of it."""

from __future__ import annotations

import pytest


def test_a_change_through_a_view_of_an_array_reaches_the_array(bench):
    pytest.importorskip("numpy")
    one = bench(
        "import numpy as np\na = np.ones(6)",
        "head = a[:3]\ntail = a[3:]",
        "head *= 2",
        "t = a.sum()",
        "u = tail.sum()",
    )
    assert one.run(*"abcde").states() == "ccccc"
    assert one.run(*"cde").states() == "ccddc"


@pytest.mark.torch
def test_a_change_through_a_view_of_a_tensor_reaches_the_tensor(bench):
    pytest.importorskip("torch")
    one = bench("import torch\nw = torch.zeros(4)", "flat = w.view(2, 2)", "flat.add_(1)", "t = w.sum().item()")
    assert one.run(*"abccd").states() == "ccdd"


def test_a_change_of_what_a_dictionary_or_an_object_holds_reaches_its_readers(bench):
    one = bench(
        "class Box:\n    def __init__(self, rows):\n        self.rows = rows",
        "rows = []\nstore = {'rows': rows}\nbox = Box(rows)\ncopy = list(rows)",
        "rows.append(1)",
        "n = len(store['rows'])",
        "m = len(box.rows)",
        "k = len(copy)",
    )
    assert one.run("*").states() == "cccccc"
    assert one.run(*"cdef").states() == "ccdddc"


def test_a_column_stored_by_another_name_of_the_frame_is_a_column_of_both(bench):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\nview = df", "view['z'] = 1", "m = df['z'].sum()"
    )
    one.run("*").edit("b", "view['z'] = 2").run("b")
    assert one.states() == "ccd"
    assert one.cell("c").reasons[0].name == "df.z"


def test_a_holder_made_from_what_the_cell_changed_is_its_own_result(bench):
    one = bench("rows = [1]", "rows = rows + [2]\nrows.sort()\nstore = {'rows': rows}", "n = len(store)").run("*")
    assert one.states() == "ccc"
    assert "store" not in "".join(reason.message for reason in one.cell("b").reasons)


def test_a_variable_set_to_what_it_was_is_no_change(bench):
    one = bench(
        "import os\nos.environ.update(CB_P='1', CB_Q='2')", "p = os.environ['CB_P']", "q = os.environ['CB_Q']"
    )
    one.run("*").edit("a", "import os\nos.environ.update(CB_P='1', CB_Q='3')").run("a")
    assert one.states() == "ccd"
