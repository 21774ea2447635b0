"""Columns of data frames."""

from __future__ import annotations

from harness import Play, Truth, session

FRAME = (
    "import pandas as pd\ndf = pd.DataFrame({'a': [1.0, 2.0, 4.0], 'b': [3.0, 5.0, 7.0], 'k': ['x', 'y', 'x']})"
)


@session("column")
def column_scaled_twice(s: Play) -> Truth:
    """A column is scaled from itself twice; the reader of the other column is current."""
    s.cells(FRAME, "df['a'] = df['a'] * 10", "ma = df['a'].mean()", "mb = df['b'].mean()")
    s.run("abbcd")
    return Truth("cddc", unsafe="b", did="rerun", why={"b": "column:df.a@b", "c": "column:df.a@b"})


@session("column")
def derived_column_edited(s: Play) -> Truth:
    """A derived column gets another formula and runs; its reader is stale, that of another column is not."""
    s.cells(FRAME, "df['z'] = df['a'] + df['b']", "top = df['z'].max()", "kinds = df['k'].nunique()")
    s.run()
    s.edit("b", "df['z'] = df['a'] - df['b']")
    s.run("b")
    return Truth("ccdc", did="edited_rerun", why={"c": "column:df.z@b"})


@session("column")
def whole_frame_read_after_a_column_changed(s: Play) -> Truth:
    """A reader of the whole frame reads every column."""
    s.cells(FRAME, "df['z'] = df['a'] + 1", "table = df.describe()", "print('end')")
    s.run()
    s.edit("b", "df['z'] = df['a'] + 2")
    s.run("b")
    return Truth("ccdc", did="edited_rerun", why={"c": "column:df.z@b|name:df@b"})


@session("column")
def column_read_before_the_cell_below_made_it(s: Play) -> Truth:
    """A column is stored by a cell below its reader: a clean run stops with KeyError."""
    s.cells(FRAME, "worst = df['loss'].max()", "df['loss'] = df['b'] - df['a']")
    s.run("acb")
    return Truth("cdc", did="out_of_order", why={"b": "column:df.loss@c"})


@session("column")
def column_filled_by_loc_from_itself(s: Play) -> Truth:
    """Part of a column is raised in place through ``loc``, twice."""
    s.cells(FRAME, "df.loc[df['k'] == 'x', 'b'] += 1", "total = df['b'].sum()", "other = df['a'].sum()")
    s.run("abbcd")
    return Truth("cddc", unsafe="b", did="rerun", why={"c": "column:df.b@b"})


@session("column")
def column_changed_by_a_function(s: Play) -> Truth:
    """A function doubles a column of its argument; the call runs twice."""
    s.cells(FRAME, "def double(frame):\n    frame['a'] = frame['a'] * 2", "double(df)", "total = df['a'].sum()")
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"d": "column:df.a@c|name:df@c"})


@session("column")
def frame_read_again_without_its_columns(s: Play) -> Truth:
    """The frame is made anew; the derived column of the first one is gone, and its reader is not run again."""
    s.cells(FRAME, "df['z'] = df['a'] * 2", "m = df['z'].mean()")
    s.run()
    s.edit("a", FRAME.replace("1.0", "9.0"))
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "name:df@a|column:df.a@a", "c": "column:df.z@b"})


@session("column")
def rows_appended_twice(s: Play) -> Truth:
    """A frame grows by concatenation with itself, twice."""
    s.cells(FRAME, "df = pd.concat([df, df.head(1)])", "n = len(df)")
    s.run("abbc")
    # the number of rows may be called the frame's or its index's
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:df@b", "c": "name:df@b|column:df.index@b"})


@session("column")
def column_dropped_in_place_below_its_reader(s: Play) -> Truth:
    """A column is dropped in place by a cell below its reader, which then fails for want of it."""
    s.cells(FRAME, "m = df['b'].mean()", "df.drop(columns=['b'], inplace=True)", "cols = list(df.columns)")
    s.run("acbd")
    # b failed with KeyError: a clean run gives it the column
    return Truth("cdcc", either="bc", did="out_of_order failed_run", why={"b": "column:df.b@c|name:df@c"})


@session("column")
def two_columns_stored_in_turn(s: Play) -> Truth:
    """A chain of column stores: the first is edited and run, the second is not."""
    s.cells(FRAME, "df['r'] = df['a'] / df['b']", "df['s'] = df['r'].rank()", "best = df['s'].iloc[0]")
    s.run()
    s.edit("b", "df['r'] = df['b'] / df['a']")
    s.run("b")
    return Truth("ccdd", did="edited_rerun", why={"c": "column:df.r@b", "d": "column:df.s@c"})


@session("column")
def index_reset_twice(s: Play) -> Truth:
    """``reset_index`` in place adds a column each time it runs."""
    s.cells(FRAME, "g = df.groupby('k').sum(numeric_only=True)", "g.reset_index(inplace=True)", "w = g.shape[1]")
    s.run("abccd")
    return Truth(
        "ccdd", unsafe="c", did="rerun", why={"d": "name:g@c|column:g.index@c", "c": "name:g@c|column:g.index@c"}
    )
