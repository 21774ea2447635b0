"""Forms of each fault of the families CB3 and CB4 beyond the examples: (code, line, severity) in order."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

CAUGHT: list[tuple[str, list[tuple[int, int, str]], str]] = [
    (
        "CB301",
        [(0, 3, "warning")],
        "import fsspec\nfs = fsspec.filesystem('file')\nfor f in fs.ls('a'):\n    use(f)\nuse = 0",
    ),
    ("CB301", [(0, 2, "warning")], "import tensorflow as tf\nnames = tf.io.gfile.listdir('a')"),
    ("CB304", [(0, 1, "warning")], 'query = """\nselect a\nfrom t\nlimit 500\n"""'),
    ("CB304", [(0, 1, "warning")], "q = 'SELECT a FROM t LIMIT 1000'"),
    (
        "CB305",
        [(0, 3, "warning")],
        "import pandas as pd\nq = 'select a, b from t'\nt = pd.read_sql_query(q, con)\ntest = t.sample(frac=0.1, random_state=0)\ncon = 0",
    ),
    (
        "CB306",
        [(0, 4, "info")],
        "from datasets import load_dataset\nfrom torch.utils.data import DataLoader\nd = load_dataset('x', streaming=True)['train'].map(str)\nDataLoader(d, num_workers=4)",
    ),
    (
        "CB306",
        [(0, 5, "info")],
        "from datasets import load_dataset\nimport torch\nN = 4\nd = load_dataset('x')['train'].to_iterable_dataset()\ntorch.utils.data.DataLoader(d, num_workers=N)",
    ),
    ("CB307", [(0, 2, "warning")], "import datasets\nd = datasets.load_dataset('x', split='train').shuffle()"),
    (
        "CB307",
        [(0, 3, "warning")],
        "from datasets import Dataset\nd = Dataset.from_dict({'a': [1]}).map(str)\nd.train_test_split(0.1)",
    ),
    (
        "CB308",
        [(0, 3, "warning")],
        "import tensorflow as tf\ntrain, test = tf.keras.utils.image_dataset_from_directory('a'), 0\ntrain = tf.data.Dataset.range(3).map(str).shuffle(buffer_size=10)",
    ),
    (
        "CB308",
        [(0, 4, "warning")],
        "import tensorflow_datasets as tfds\nimport tensorflow\n(a, b) = tfds.load('mnist', split=['train', 'test'])\na = a.cache().shuffle(10)",
    ),
    (
        "CB309",
        [(0, 2, "warning")],
        "import tensorflow as tf\nd = tf.data.Dataset.range(3).interleave(f, deterministic=False)\nf = 0",
    ),
    (
        "CB309",
        [(0, 3, "warning")],
        "import tensorflow as tf\no = tf.data.Options()\no.experimental_deterministic = False",
    ),
    (
        "CB310",
        [(0, 2, "warning")],
        "import webdataset as wds\nd = wds.DataPipeline(wds.SimpleShardList('a'), wds.shuffle(100))",
    ),
    ("CB310", [(0, 2, "warning")], "import webdataset as wds\nd = wds.DataPipeline(wds.ResampledShards('a'))"),
    ("CB310", [(0, 2, "warning")], "from webdataset import WebDataset\nd = WebDataset('a', resampled=True)"),
    (
        "CB311",
        [(0, 3, "warning")],
        "import dask.dataframe as dd\nt = dd.read_csv('*.csv')\na, b = t.random_split([0.9, 0.1])",
    ),
    ("CB311", [(0, 3, "warning")], "import polars as pl\nt = pl.read_csv('a.csv').filter(1)\nt.sample(10)"),
    ("CB311", [(0, 2, "warning")], "from pyspark.sql.functions import rand\nt.orderBy(rand())\nt = 0"),
    (
        "CB312",
        [(0, 2, "warning")],
        "import pyspark.sql.functions as F\nt.agg(F.collect_list('a').alias('b'))\nt = 0",
    ),
    (
        "CB313",
        [(0, 2, "warning")],
        "import asyncio\nrows = [await f for f in asyncio.as_completed(jobs)]\njobs = []",
    ),
    (
        "CB313",
        [(0, 4, "warning")],
        "import multiprocessing\npool = multiprocessing.Pool()\nrows = []\nfor r in pool.imap_unordered(f, x):\n    rows.append(r)\nf = x = 0",
    ),
    (
        "CB313",
        [(0, 3, "warning")],
        "from multiprocessing import Pool\nfrom tqdm import tqdm\nrows = list(tqdm(Pool().imap_unordered(str, [1])))",
    ),
    (
        "CB313",
        [(0, 3, "warning")],
        "from joblib import Parallel\nrows = []\nfor r in Parallel(return_as='generator_unordered')(jobs):\n    rows.append(r)\njobs = 0",
    ),
    (
        "CB314",
        [(0, 2, "warning")],
        "import polars as pl\nn = pl.scan_parquet('a').group_by('a').agg(pl.len()).collect()",
    ),
    (
        "CB315",
        [(0, 2, "warning")],
        "import pandas as pd\nt = t.sort_values(by=['a']).groupby('b').head(1)\nt = pd.DataFrame()",
    ),
    (
        "CB315",
        [(0, 2, "warning")],
        "import pandas as pd\nt['lag'] = t.sort_values('a').groupby('b')['c'].shift(1)\nt = pd.DataFrame()",
    ),
    (
        "CB316",
        [(0, 2, "warning")],
        "import glob, os\nsorted(glob.glob('*'), key=lambda p: os.stat(p).st_mtime)[-1]",
    ),
    ("CB316", [(0, 1, "warning")], "last = max(pages['Contents'], key=lambda o: o['LastModified'])\npages = {}"),
    ("CB316", [(0, 3, "warning")], "import os\nfiles = ['a']\nfiles.sort(key=os.path.getctime)"),
    ("CB316", [(0, 1, "warning")], "last = !ls -t runs | head -1"),
    ("CB405", [(0, 1, "error")], "!apt-get -qq install -y ffmpeg"),
    ("CB405", [(0, 1, "error")], "!brew install graphviz"),
    ("CB405", [(0, 2, "error")], "import os\nos.system('sudo apt update')"),
    ("CB406", [(0, 2, "info")], "from os import chdir\nchdir('data')"),
    ("CB406", [(0, 1, "warning")], "%cd sub\n%cd .."),
    ("CB407", [(0, 2, "warning")], "import sys, os\nsys.path.append(os.path.abspath('..'))"),
    ("CB407", [(0, 2, "warning")], "import sys\nsys.path += ['../src']"),
    ("CB407", [(0, 2, "info")], "import sys\nsys.path = ['lib'] + sys.path"),
    ("CB408", [(0, 1, "error")], "import google.colab"),
    (
        "CB408",
        [(0, 2, "warning")],
        "def keys():\n    from kaggle_secrets import UserSecretsClient\n    return UserSecretsClient()",
    ),
    ("CB408", [(0, 1, "error")], "token = dbutils.secrets.get('a', 'b')"),
    ("CB409", [(0, 2, "info")], "import getpass\nfolder = '/scratch/' + getpass.getuser()"),
    ("CB409", [(0, 2, "info")], "import platform\nif platform.node() == 'box': pass"),
    ("CB410", [(0, 2, "warning")], "import requests\nrequests.get('http://127.0.0.1:9000/rows', timeout=1)"),
    ("CB410", [(0, 1, "warning")], "URL = 'postgresql://me:secret@localhost:5432/db'"),
    ("CB411", [(0, 2, "info")], "from os import environ\nkey = environ['MY_KEY']"),
    (
        "CB412",
        [(0, 2, "warning")],
        "import datetime as dt\nt = 0; t['age'] = dt.date.today().year - t['born'].dt.year",
    ),
    ("CB412", [(0, 2, "warning")], "import pandas as pd\nnew = t[t['date'] < pd.Timestamp.now()]\nt = 0"),
    (
        "CB412",
        [(0, 2, "warning")],
        "from datetime import date\nrows = download('X', start='2020-01-01', end=date.today())\ndownload = 0",
    ),
    ("CB413", [(0, 2, "warning")], "import datetime\nt = [datetime.datetime.fromtimestamp(s) for s in [1]]"),
    ("CB413", [(0, 2, "warning")], "import time\nday = time.localtime(1700000000).tm_mday"),
    ("CB414", [(0, 2, "warning")], "from locale import setlocale, LC_TIME\nsetlocale(LC_TIME, 'fr_FR')"),
    ("CB415", [(0, 2, "warning")], "import spacy\nspacy.cli.download('en_core_web_sm')"),
    ("CB415", [(0, 2, "warning")], "%%bash\npython -m nltk.downloader punkt"),
    ("CB416", [(0, 2, "info")], "from tensorflow.keras.datasets import mnist\nmnist.load_data()"),
    (
        "CB416",
        [(0, 2, "info")],
        "import torchvision\ntorchvision.datasets.CIFAR10('data', download=True)\ntorchvision.datasets.CIFAR10('data', False, download=True)",
    ),
    ("CB417", [(0, 2, "error")], "import pandas as pd\npd.read_csv(r'data\\train.csv')"),
    ("CB417", [(0, 1, "error")], "open('..\\\\raw\\\\a.json')"),
    (
        "CB418",
        [(0, 2, "warning")],
        "from datasets import load_dataset\nload_dataset('a/b', trust_remote_code=True)",
    ),
    ("CB419", [(0, 2, "info")], "import pandas as pd\npd.read_csv(f'../data/{name}.csv')\nname = 0"),
]


@pytest.mark.parametrize(("code", "places", "text"), CAUGHT, ids=lambda value: str(value)[:40])
def test_the_rule_finds_it_at_this_level(
    code: str, places: list[tuple[int, int, str]], text: str, lint: Lint
) -> None:
    found = [finding for finding in lint(text) if finding.code == code]
    assert [(finding.cell_index, finding.line, finding.severity.value) for finding in found] == places
