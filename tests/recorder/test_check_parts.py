"""Columns of frames and attributes of classes and modules as locations of their own."""

from __future__ import annotations

import sys

import pytest

from jupyter_clusterbridge.model.events import CellEnd

FRAME = (
    "import pandas as pd\ndf = pd.DataFrame({'a': [1.0, 2.0, 4.0], 'b': [3.0, 5.0, 7.0], 'k': ['x', 'y', 'x']})"
)
CONFIG = "class Config:\n    lr = 0.1\n    size = 8"


def ends(one):
    return [event for journal in one.journals() for event in journal.events if isinstance(event, CellEnd)]


@pytest.fixture
def frames():
    return pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("source", "reads", "writes"),
    [
        ("m = df['a'].mean()", {"column:df.a"}, {"name:m"}),
        ("m = df.a.sum()", {"column:df.a"}, {"name:m"}),
        ("m = df[['a', 'b']].sum()", {"column:df.a", "column:df.b"}, {"name:m"}),
        ("m = df.loc[df['k'] == 'x', 'b'].sum()", {"column:df.k", "column:df.b"}, {"name:m"}),
        ("m = df.groupby('k')['a'].sum()", {"column:df.k", "column:df.a"}, {"name:m"}),
        ("cols = ['a', 'b']\nm = df[cols].sum()", {"column:df.a", "column:df.b"}, {"name:m", "name:cols"}),
        ("df['z'] = df['a'] * 2", {"column:df.a"}, {"column:df.z"}),
        ("df.loc[:, 'z'] = 0", set(), {"column:df.z"}),
        ("n = len(df)", {"column:df.index"}, {"name:n"}),
        ("m = df.describe()", {"name:df"}, {"name:m"}),
        ("df = df.dropna()", {"name:df"}, set()),
    ],
)
def test_a_cell_reads_and_writes_the_columns_that_it_names(bench, frames, source, reads, writes):
    one = bench(FRAME, source).run("*")
    end = ends(one)[-1]
    found = {location for location in end.reads if "df" in location}
    assert (found, set(end.writes)) == (reads or found, writes)
    assert not one.cell("b").unsafe_to_rerun


def test_a_list_of_columns_made_in_another_cell_is_known(bench, frames):
    one = bench(FRAME, "features = ['a', 'b']", "X = df[features]").run("*")
    assert {"column:df.a", "column:df.b"} <= set(ends(one)[-1].reads)
    assert "name:df" not in ends(one)[-1].reads


def test_an_edited_column_reaches_its_readers_and_no_others(bench, frames):
    one = bench(FRAME, "df['z'] = df['a'] * 2", "top = df['z'].max()", "n = df['k'].nunique()", "t = df.sum()")
    one.run("*").edit("b", "df['z'] = df['a'] * 3").run("b")
    assert one.states() == "ccdcd"
    reason = one.cell("c").reasons[0]
    assert (reason.kind, reason.name, reason.cell_id) == ("column", "df.z", "b")
    assert reason.message == "the column `z` of `df` came from cell 1 before it was edited"


def test_a_column_set_to_what_it_was_is_no_change(bench, frames):
    one = bench(FRAME, "df['z'] = df['a'] * 2", "top = df['z'].max()")
    assert one.run("*").edit("b", "df['z'] = df['a'] + df['a']").run("b").states() == "ccc"


def test_a_column_made_from_itself_accumulates_and_others_do_not(bench, frames):
    one = bench(FRAME, "df['a'] = df['a'] * 2\ndf['z'] = df['b'] + 1", "m = df['a'].sum()", "n = df['z'].sum()")
    assert one.run(*"abbcd").states() == "cddc"
    assert one.cell("b").unsafe_to_rerun


def test_a_new_frame_has_no_columns_of_the_old_one(bench, frames):
    one = bench(FRAME, "df['z'] = df['a'] * 2", "m = df['z'].mean()").run("*")
    one.edit("a", FRAME.replace("1.0", "9.0")).run("a")
    assert one.states() == "cdd"
    assert one.run("b", "c").states() == "ccc"


def test_a_column_of_a_deleted_cell_is_hidden_state_for_its_readers_only(bench, frames):
    one = (
        bench(FRAME, "df['z'] = 1", "m = df['z'].mean()", "n = df['a'].mean()", "s = df.sum()")
        .run("*")
        .delete("b")
    )
    assert one.states() == "cdcd"


def test_a_cleaning_step_run_again_leaves_all_current(bench, frames):
    one = bench(
        FRAME, "df['z'] = df['a'] * 2", "df = df[df['b'] > 3].copy()", "df['w'] = df['z'] + 1", "m = df['w'].sum()"
    )
    assert one.run("*").states() == "ccccc"
    assert one.run("d", "e").states() == "ccccc"


def test_columns_set_in_a_loop_over_their_names_are_set_anew(bench, frames):
    one = bench(FRAME, "for c in ['p', 'q']:\n    df[c] = df['a'] + 1", "df.head()", "m = df['p'].sum()")
    assert one.run(*"abcdbcd").states() == "cccc"
    assert not one.cell("b").unsafe_to_rerun


def test_a_column_changed_through_a_function_is_seen(bench, frames):
    one = bench(
        FRAME, "def double():\n    df['a'] = df['a'] * 2", "double()", "m = df['a'].sum()", "n = df['b'].sum()"
    )
    assert one.run(*"abccde").states() == "ccddc"


def test_a_setting_of_a_class_is_a_location_of_its_own(bench):
    one = bench(CONFIG, "rate = Config.lr", "n = Config.size", "Config.lr = 0.5")
    assert one.run(*"adbc").states() == "cdcc"
    reason = one.cell("b").reasons[0]
    assert (reason.kind, reason.name, reason.cell_id) == ("attr", "Config.lr", "d")


def test_a_setting_read_in_a_function_counts_for_its_caller(bench):
    one = bench(
        CONFIG, "def rate():\n    return Config.lr * 2", "r = rate()", "n = Config.size", "Config.lr = 0.5"
    )
    assert one.run(*"abecd").states() == "ccdcc"


def test_an_object_of_a_class_has_its_settings(bench):
    one = bench(CONFIG, "config = Config()", "rate = config.lr", "Config.lr = 0.5").run(*"abdc")
    assert one.states() == "ccdc"


def test_a_setting_set_to_what_it_was_is_no_change(bench):
    one = bench(CONFIG, "Config.lr = 0.2", "rate = Config.lr").run("*").edit("b", "Config.lr = 0.4 / 2").run("b")
    assert one.states() == "ccc"


@pytest.fixture
def settings(tmp_path, monkeypatch):
    (tmp_path / "cb_settings.py").write_text(
        "DEBUG = False\nSIZE = 4\ndef shape():\n    return SIZE * 2\n"
        "def configure(size):\n    global SIZE\n    SIZE = size\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("cb_settings", None)


def test_an_attribute_of_a_module_is_a_location(bench, settings):
    one = bench("import cb_settings as cs", "d = cs.DEBUG", "cs.DEBUG = True", "n = cs.SIZE")
    assert one.run(*"acbd").states() == "cdcc"
    assert one.cell("b").reasons[0].name == "cs.DEBUG"


def test_what_functions_of_a_local_module_read_and_write_of_it_is_followed(bench, settings):
    one = bench(
        "import cb_settings", "s = cb_settings.shape()", "cb_settings.configure(9)", "d = cb_settings.DEBUG"
    )
    assert one.run(*"acbd").states() == "cdcc"
    assert one.cell("b").reasons[0].name == "cb_settings.SIZE"


def test_settings_of_a_module_set_where_it_is_imported_are_quiet_when_run_again(bench, settings):
    one = bench("import cb_settings\ncb_settings.DEBUG = True", "d = cb_settings.DEBUG").run(*"abab")
    assert one.states() == "cc"
    assert not one.cell("a").unsafe_to_rerun


@pytest.mark.parametrize(
    "index",
    [
        "pd.MultiIndex.from_tuples([('a', 1), ('b', 2)], names=['k', 'n'])",
        "pd.CategoricalIndex(['a', 'b'])",
        "pd.IntervalIndex.from_breaks([0, 1, 2])",
        "pd.PeriodIndex(['2020-01', '2020-02'], freq='M')",
        "pd.DatetimeIndex(['2020-01-01', '2020-01-02'], tz='UTC')",
        "pd.TimedeltaIndex(['1D', '2D'])",
        "pd.Index([1, 'a'], dtype=object)",
        "pd.Index(['a', 'b'], dtype='string')",
        "pd.Index([1, None], dtype='Int64')",
    ],
)
def test_rows_of_every_kind_are_followed(bench, index):
    pytest.importorskip("pandas")
    one = bench(
        f"import pandas as pd\ndf = pd.DataFrame({{'x': [1, 2], 'y': [3, 4]}}, index={index})",
        "df['z'] = df['x'] * 2",
        "small = df.head()\ntotal = df['z'].sum()",
        "df.index = df.index[::-1]",
    ).run("*")
    assert one.recorder.active
    report = one.check()
    assert one.states() == "cccc"
    assert [cell.untracked for cell in report.cells] == [()] * 4
    assert [cell.unsafe_to_rerun for cell in report.cells[:3]] == [False] * 3


def test_a_frame_with_rows_of_an_unknown_make_does_not_end_the_recording(bench, monkeypatch):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'x': [1, 2]}, index=[3, 4])", "df['z'] = 1", "n = len(df)"
    )
    one.run("a")
    monkeypatch.setattr("jupyter_clusterbridge.recorder.feed_arrays.index", lambda *given: 1 / 0)
    one.run("b", "c")
    assert one.recorder.active
    assert one.states() == "ccc"
