"""Clean sessions with tables, arrays and plots."""

from __future__ import annotations

from harness import Play, Truth, session

FRAME = (
    "import pandas as pd\ndf = pd.DataFrame({'a': [1.0, None, 4.0], 'b': [3.0, 5.0, 7.0], 'k': ['x', 'y', 'x']})"
)


@session("clean")
def cleaning_a_table_column_by_column(s: Play) -> Truth:
    """Column stores from other columns, one reader a column, from top to bottom."""
    s.cells(
        FRAME,
        "df['a'] = df['a'].fillna(0.0)",
        "df['ratio'] = df['a'] / df['b']",
        "df['flag'] = df['ratio'] > 0.5",
        "summary = df.groupby('k')['ratio'].mean()\nprint(summary)",
    )
    s.run()
    return Truth("ccccc", either="b")


@session("clean")
def derived_columns_run_again(s: Play) -> Truth:
    """Cells that store columns computed from other columns run again: they set the same once more."""
    s.cells(FRAME, "df['z'] = df['b'] * 2", "df['y'] = df['z'] + df['b']", "m = df['y'].mean()\nm")
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def looking_at_a_table_again_and_again(s: Play) -> Truth:
    """head, describe, value_counts and plain display, in any order."""
    s.cells(FRAME, "df.head()", "df.describe()", "df['k'].value_counts()", "df.shape, df.dtypes")
    s.run("abcdebdcbe")
    return Truth("ccccc", did="rerun")


@session("clean")
def rows_dropped_once(s: Play) -> Truth:
    """A frame is bound to itself without missing values: dropping them again drops nothing."""
    s.cells(FRAME, "df = df.dropna()", "df = df.drop_duplicates()", "n = len(df)")
    s.run()
    return Truth("cccc")


@session("clean")
def rows_dropped_again(s: Play) -> Truth:
    """The same, with the dropping cell run twice: the value is equal, nothing has changed."""
    s.cells(FRAME, "df = df.dropna()", "n = len(df)")
    s.run("abbc")
    return Truth("ccc", did="rerun")


@session("clean")
def zeros_set_where_a_mask_says(s: Play) -> Truth:
    """``loc`` with a mask sets a constant: again is as good as once."""
    s.cells(FRAME, "df.loc[df['k'] == 'x', 'b'] = 0.0", "total = df['b'].sum()")
    s.run("abbc")
    return Truth("ccc", did="rerun")


@session("clean")
def values_set_by_position(s: Play) -> Truth:
    """``iloc`` and ``at`` set constants."""
    s.cells(FRAME, "df.iloc[0, 1] = 9.0\ndf.at[1, 'b'] = 8.0", "top = df['b'].max()")
    s.run("abbc")
    return Truth("ccc", did="rerun")


@session("clean")
def array_changed_in_place_once(s: Play) -> Truth:
    """An array is normalised in place in a clean run; only running that again would do harm."""
    s.cells(
        "import numpy as np\nx = np.arange(12.0).reshape(3, 4)",
        "x -= x.mean(axis=0)",
        "x /= 2.0",
        "norm = float(np.linalg.norm(x))\nprint(norm)",
    )
    s.run()
    return Truth("cccc", unsafe="c", either="b")


@session("clean")
def array_cells_set_to_constants(s: Play) -> Truth:
    """Slices, masks and ``fill`` set constants, twice."""
    s.cells(
        "import numpy as np\nx = np.arange(6.0)",
        "x[:2] = 0.0\nx[x > 4] = 4.0",
        "mask = np.zeros(6, bool)\nmask[1::2] = True",
        "y = x[mask].sum()",
    )
    s.run("abbccd")
    return Truth("cccc", did="rerun")


@session("clean")
def merge_and_pivot(s: Play) -> Truth:
    """Frames joined into new names."""
    s.cells(
        "import pandas as pd\nleft = pd.DataFrame({'id': [1, 2], 'v': [3, 4]})",
        "right = pd.DataFrame({'id': [1, 2], 'w': [5, 6]})",
        "both = left.merge(right, on='id')",
        "wide = both.pivot_table(index='id', values=['v', 'w'])\nwide",
        "both['s'] = both['v'] + both['w']",
        "wide.to_dict(), both['s'].sum()",
    )
    s.run()
    return Truth("cccccc")


@session("clean")
def chain_of_methods_into_a_new_name(s: Play) -> Truth:
    """assign, query, sort_values, reset_index in one chain, explored by running it again."""
    s.cells(
        FRAME,
        "tidy = (\n    df.assign(c=lambda t: t['b'] * 2)\n    .query('c > 6')\n    .sort_values('c')\n"
        "    .reset_index(drop=True)\n)",
        "tidy.head(1)",
    )
    s.run("abcbcbc")
    return Truth("ccc", did="rerun")


@session("clean")
def plots_on_one_figure(s: Play) -> Truth:
    """A figure of matplotlib over two cells."""
    s.cells(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nimport numpy as np\nx = np.linspace(0, 1, 20)",
        "plt.plot(x, x ** 2)\nplt.title('square')\nplt.show()",
        "fig, ax = plt.subplots()\nax.hist(x, bins=5)\nax.set_xlabel('x')\nfig.tight_layout()",
        "plt.close('all')",
    )
    s.run()
    return Truth("cccc")


@session("clean")
def plot_cell_run_again(s: Play) -> Truth:
    """The plot cell is rerun while its style is sought; each run makes its own figure."""
    s.cells(
        "import matplotlib.pyplot as plt\nvalues = [1, 3, 2]",
        "fig, ax = plt.subplots()\nax.plot(values)\nplt.show()",
        "print(max(values))",
    )
    s.run("abbbc")
    return Truth("ccc", did="rerun")


@session("clean")
def table_written_and_read_back(s: Play) -> Truth:
    """A file is written by one cell and read by another."""
    s.cells(
        FRAME,
        "df.to_csv('clean.csv', index=False)",
        "back = pd.read_csv('clean.csv')",
        "len(back)",
    )
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def types_and_names_of_columns(s: Play) -> Truth:
    """astype and rename bind the frame to itself: the second run finds the work done."""
    s.cells(
        FRAME,
        "df['k'] = df['k'].astype('category')",
        "df = df.rename(columns={'b': 'beta'})",
        "codes = df['k'].cat.codes.tolist()",
        "total = df['beta'].sum()",
    )
    s.run()
    return Truth("ccccc", either="b")


@session("clean")
def dates_parsed_in_a_loop_over_columns(s: Play) -> Truth:
    """A loop stores the parsed form of several columns into new ones."""
    s.cells(
        "import pandas as pd\nlog = pd.DataFrame({'s': ['2024-01-01'], 'e': ['2024-01-03']})",
        "for c in ('s', 'e'):\n    log[c + '_t'] = pd.to_datetime(log[c])",
        "log['days'] = (log['e_t'] - log['s_t']).dt.days",
        "print(log['days'].iloc[0])",
    )
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")
