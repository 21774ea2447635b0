"""Cells that bring a value to a form that it keeps may run again; cells that take it further may not."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "source",
    [
        "y = y.reshape(n, 1)",
        "y = y.clip(low, 0.5)",
        "y = y.astype('float32')",
        "df['when'] = pd.to_datetime(df.when)",
        "df['when'] = pd.to_datetime(df['when'], dayfirst=True)",
        "df['a'] = df['a'].fillna(0)",
        "df['a'] = df.a.fillna(0)\ndf['b'] = df['a'] * 2",
        "df['text'] = df['text'].str.strip()\ndf.text = df.text.str.lower()",
        "df = df.reindex(order)",
    ],
)
def test_a_value_that_keeps_its_form_may_be_brought_to_it_again(bench, source):
    assert not _unsafe(bench, source)


@pytest.mark.parametrize(
    "source",
    [
        "y = y.reshape(n, 1) * 2",
        "y = y[1:].reshape(-1)",
        "df['a'] = df['a'].shift(1)",
        "df['a'] = df['a'].fillna(df['a'].mean()) + 1",
        "df['b'] = df['a'] * 2\ndf['a'] = df['a'].fillna(0)",
        "df['text'] = df['text'].str.slice(1)",
        "df['text'] = df['text'].replace({' A': 'b', 'b': ' A'})",
    ],
)
def test_a_value_that_goes_on_from_itself_may_not(bench, source):
    assert _unsafe(bench, source)


def test_tensors_may_be_moved_and_shaped_again(bench):
    pytest.importorskip("torch")
    one = bench(
        "import torch\nx = torch.arange(6)\nto = torch.float64\nn = 2",
        "x = x.to(to)\nx = x.view(n, 3)",
        "x = x.squeeze(0) * 2",
    )
    one.run("*")
    assert [one.cell(name).unsafe_to_rerun for name in "bc"] == [False, True]


def _unsafe(bench, source):
    pytest.importorskip("pandas")
    one = bench(
        "import numpy as np, pandas as pd\ny, n, low, order = np.linspace(0, 1, 4), 4, 0.2, [1, 0]\n"
        "df = pd.DataFrame({'when': ['2020-01-02', '2020-03-04'], 'a': [1.0, None], 'text': [' A', 'b']})",
        source,
    )
    one.run("*")
    assert one.states() == "cc"
    return one.cell("b").unsafe_to_rerun
