"""What the fixes of rules make of a cell."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

from jupyter_clusterbridge.lint.fixes import apply_edits

FIXED: list[tuple[str, str, str]] = [
    ("CB301", "import os\nfor n in os.listdir('a'):\n    f(n)\nf = 0", "import os\nfor n in sorted(os.listdir('a')):\n    f(n)\nf = 0"),
    ("CB301", "from glob import glob\nx = glob('é*')  # all", "from glob import glob\nx = sorted(glob('é*'))  # all"),
    ("CB301", "from pathlib import Path\nx = list(Path('a').glob('*'))", "from pathlib import Path\nx = list(sorted(Path('a').glob('*')))"),
    ("CB104", "from sklearn.datasets import make_moons\na = make_moons(9, random_state=0)\nb = make_moons(9)", "from sklearn.datasets import make_moons\na = make_moons(9, random_state=0)\nb = make_moons(9, random_state=1)"),
    ("CB118", "import pandas as pd\na = d.sample(n=3, random_state=0)\nb = d.sample(n=3)\nd = 0", "import pandas as pd\na = d.sample(n=3, random_state=0)\nb = d.sample(n=3, random_state=1)\nd = 0"),
    ("CB307", "from datasets import load_dataset\nd = load_dataset('x').train_test_split(0.1)", "from datasets import load_dataset\nd = load_dataset('x').train_test_split(0.1, seed=0)"),
    ("CB309", "import tensorflow as tf\nd = tf.data.Dataset.range(3).map(str, deterministic=False)", "import tensorflow as tf\nd = tf.data.Dataset.range(3).map(str, deterministic=True)"),
    ("CB314", "import polars as pl\nx = pl.read_csv('a').unique()", "import polars as pl\nx = pl.read_csv('a').unique(maintain_order=True)"),
    ("CB315", "y = x.sort_values('a').drop_duplicates('b')\nx = 0", "y = x.sort_values('a', kind=\"stable\").drop_duplicates('b')\nx = 0"),
    ("CB417", "open('a\\\\b.txt')", "open('a/b.txt')"),
    ("CB506", "from tqdm.notebook import tqdm, trange", "from tqdm.auto import tqdm, trange"),
]  # fmt: skip

WITHOUT: list[tuple[str, str]] = [
    ("CB301", "from pathlib import Path\nx = Path('a').iterdir()\nnext(x)"),
    ("CB301", "import os\nx = [e.name for e in os.scandir('a')]"),
    ("CB301", "import os\nfor a, b, c in os.walk('a'):\n    f(c)\nf = 0"),
    ("CB301", "import os\nsorted = list\nnames = os.listdir('a')"),
    ("CB506", "from tqdm.notebook import tqdm_notebook"),
    # one seed for all passes would make what was drawn anew in each the same
    (
        "CB104",
        "from sklearn.model_selection import train_test_split\nfor i in range(3):\n    a, b = train_test_split(range(9))",
    ),
    (
        "CB104",
        "from sklearn.model_selection import train_test_split\ndef split(x):\n    return train_test_split(x)\nsplit([1, 2])",
    ),
    ("CB118", "import pandas as pd\nmeans = [d.sample(frac=1, replace=True).mean() for i in range(9)]\nd = 0"),
    ("CB118", "import pandas, snowflake.snowpark\nrows = d.sample(n=3)\nd = 0"),
    ("CB315", "import dask.dataframe as dd\ny = x.sort_values('a').drop_duplicates('b')\nx = 0"),
    ("CB307", "from datasets import load_dataset\nd = load_dataset('x')\nfor i in range(3):\n    d = d.shuffle()"),
]


@pytest.mark.parametrize(("code", "before", "after"), FIXED, ids=lambda value: value[:40])
def test_the_fix_makes_this_of_the_cell(code: str, before: str, after: str, lint: Lint) -> None:
    (finding,) = (finding for finding in lint(before) if finding.code == code)
    assert finding.fix is not None
    assert apply_edits(before, finding.fix.edits) == after
    assert [finding for finding in lint(after) if finding.code == code] == []


@pytest.mark.parametrize(("code", "text"), WITHOUT, ids=lambda value: value[:40])
def test_what_a_fix_could_break_is_reported_without_one(code: str, text: str, lint: Lint) -> None:
    assert [finding.fix for finding in lint(text) if finding.code == code] == [None]
