"""What the rules of the families CB3 and CB4 must leave alone. A false alarm is as much a bug as a miss."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

QUIET: dict[str, list[str]] = {
    "CB301": [
        "import fsspec\nfs = fsspec.filesystem('file')\nnames = sorted(fs.ls('a'))",
        "import boto3\ns3 = boto3.client('s3')\nfor o in s3.list_objects_v2(Bucket='a')['Contents']:\n    print(o)",
        "import os\nprint('files:', os.listdir('x'))",
        "import os\nn = len(os.listdir('x'))",
    ],
    "CB302": [
        "by = {}\nfor d in {'a', 'b'}:\n    by[d].append(1)",
        "by = {}\nfor d in set('ab'):\n    by[d]['x'].extend([1])",
    ],
    "CB303": ["a = [hash(i) for i in range(3)]", "for i in range(3):\n    print(hash(i) % 2)"],
    "CB304": [
        '"""select the rows from the table, with no limit 500"""',
        "q = 'select a from t order by a limit 500'",
        "q = 'SELECT a FROM t LIMIT 10'",
        "limit = 500\nselect = 'from here'",
    ],
    "CB305": [
        "import pandas as pd\nfrom sklearn.model_selection import train_test_split\nt = pd.read_sql('select a from t', con)\nt = t.sort_values('a')\ntrain_test_split(t)\ncon = 0",
        "import pandas as pd\nt = pd.read_sql('select a from t', con)\nt.describe()\ncon = 0",
        "import pandas as pd\nt = pd.read_sql('people', con)\nt.sample(3)\ncon = 0",
    ],
    "CB306": [
        "from datasets import load_dataset\nfrom torch.utils.data import DataLoader\nd = load_dataset('x', streaming=False)\nDataLoader(d, num_workers=4)",
        "from torch.utils.data import DataLoader\nstreaming = [1]\nDataLoader(streaming, num_workers=4)",
        "from datasets import load_dataset\nfrom torch.utils.data import DataLoader\nd = load_dataset('x', streaming=True)\nDataLoader(d)",
    ],
    "CB307": [
        "from datasets import load_dataset\nimport numpy as np\nnp.random.seed(0)\nload_dataset('x')['train'].shuffle()",
        "from datasets import load_dataset\nd = load_dataset('x')['train'].to_pandas()\nd.shuffle()",
        "from datasets import load_dataset\nimport random\nd = load_dataset('x')\nrows = [1]\nrandom.shuffle(rows)",
        "from datasets import load_dataset\nfrom sklearn.model_selection import train_test_split\nd = load_dataset('x')\ntrain_test_split([1])",
        "from datasets import load_dataset\nd = load_dataset('x').train_test_split(0.1, shuffle=False)",
    ],
    "CB308": [
        "import tensorflow as tf\ntf.random.set_seed(0)\ntf.data.Dataset.range(3).shuffle(10)",
        "import tensorflow as tf\nfrom tensorflow import keras\nkeras.utils.set_random_seed(1)\nd = tf.data.Dataset.range(3)\nd.shuffle(10)",
        "import tensorflow as tf\nimport random\nx = [1]\nrandom.shuffle(x)",
        "import tensorflow as tf\nd = tf.data.Dataset.range(3).shuffle(10, 7)",
    ],
    "CB309": [
        "import torch\ntorch.backends.cudnn.deterministic = False",
        "import tensorflow as tf\nd = tf.data.Dataset.range(3).map(str, deterministic=True)",
        "import torch\ntrainer.deterministic = False\ntrainer = 0",
    ],
    "CB310": [
        "import webdataset as wds\nd = wds.WebDataset('a', shardshuffle=False).shuffle(0)",
        "import webdataset as wds, random\nd = wds.WebDataset('a', shardshuffle=False).shuffle(10, rng=random.Random(0))",
        "import webdataset as wds\nd = wds.WebDataset('a', shardshuffle=100, detshuffle=True)",
        "import webdataset as wds, random\nx = [1]\nrandom.shuffle(x)",
    ],
    "CB311": [
        "import pyspark\na, b = t.randomSplit([0.5, 0.5], 0)\nt = 0",
        "import polars as pl\nimport random\nrandom.sample([1], 1)",
        "import polars as pl\npl.set_random_seed(0)\npl.DataFrame().sample(1)",
        "import polars as pl\nt = pl.read_csv('a').to_pandas()\nt.sample(3)",
        "import polars as pl\nfrom torch.utils.data import random_split\nrandom_split([1], [1])",
        "import polars as pl\nd = pl.from_pandas(t.sample(3))\nt = 0",
    ],
    "CB312": [
        "from pyspark.sql import functions as F, Window\nt.withColumn('a', F.first('b').over(Window.partitionBy('c').orderBy('d')))\nt = 0",
        "from pyspark.sql import functions as F\nt.agg(F.array_sort(F.collect_list('a')))\nt = 0",
        "from pyspark.sql import functions as F\nt.first()\nt = 0",
    ],
    "CB313": [
        "from concurrent.futures import as_completed\ndone = {jobs[f]: f.result() for f in as_completed(jobs)}\njobs = {}",
        "from joblib import Parallel\nfor r in Parallel(return_as='generator_unordered')(jobs):\n    print(r)\njobs = 0",
        "from joblib import Parallel\nrows = []\nfor r in Parallel(return_as='generator')(jobs):\n    rows.append(r)\njobs = 0",
        "from concurrent.futures import as_completed\nrows = []\nfor f in as_completed(jobs):\n    rows.append((jobs[f], f.result()))\nrows.sort()\njobs = {}",
        "from concurrent.futures import as_completed\nfor f in as_completed(jobs):\n    print(f.result())\njobs = {}",
        "from multiprocessing import Pool\ntotal = sum(Pool().imap_unordered(int, '12'))",
        "from multiprocessing import Pool\nrows = list(Pool().imap_unordered(int, '12'))\nrows = sorted(rows)",
    ],
    "CB314": [
        "import polars as pl\nt = pl.read_csv('a')\nn = t.unique().height",
        "import polars as pl\nt = pl.read_csv('a')\nt.group_by('a').agg(pl.col('b').sum())",
        "import polars as pl\nimport pandas as pd\nt = pd.read_csv('a')\nu = t['a'].unique()",
        "import polars as pl\nt = pl.read_csv('a')\nfor key, part in t.group_by('a'):\n    print(key)",
        "import polars as pl\nt = pl.read_csv('a').with_columns(pl.col('a').unique())",
    ],
    "CB315": [
        "t = t.sort_values('a', kind='mergesort').drop_duplicates('b')\nt = 0",
        "t = t.sort_values(['a', 'b']).drop_duplicates('b')\nt = 0",
        "t = t.sort_values('a').head(3)\nt = 0",
        "t = t.sort_values('a').groupby('b').mean()\nt = 0",
    ],
    "CB316": [
        "import os\nfiles = sorted(['a'], key=os.path.getsize)",
        "import os\nage = os.path.getmtime('a')",
        "!ls -lt",
        "newest = max([1], key=abs)",
    ],
    "CB402": [
        "from google.colab import drive\ndrive.mount('/content/drive')",
        "open(f'{root}/split_0/a.csv')\nroot = 'x'",
        "root = 'data'\npath = f'{root}/test_set/test_set'",
    ],
    "CB405": [
        "!apt list --installed",
        "print('sudo apt install x')",
        "!echo apt",
        "%%bash\ncat > Dockerfile << EOF\nRUN apt-get update && \\\n    apt-get install -y curl\nEOF",
        "%%writefile Dockerfile\nRUN apt-get install -y x",
        "!captain install x",
    ],
    "CB406": [
        "import os\nbefore = os.getcwd()\nos.chdir(before)",
        "%cd",
        "%cd -",
        "import os\nos.chdir(os.path.dirname('a'))",
        "!cd data && ls",
    ],
    "CB407": [
        "import sys\n'src' in sys.path",
        "import sys\npath = list(sys.path)\npath.append('..')",
        "x = []\nx.append('..')",
    ],
    "CB408": [
        "try:\n    import google.colab\nexcept ImportError:\n    pass",
        "IN_COLAB = 'google.colab' in str(get_ipython())\nif IN_COLAB:\n    from google.colab import drive\n    drive.mount('/content')",
        "try:\n    %tensorflow_version 2.x\nexcept Exception:\n    pass",
        "def show(dbutils):\n    dbutils = dbutils or 0\n# %%\ndbutils = 3\nprint(dbutils)",
        "import google.cloud",
    ],
    "CB409": [
        "import socket\nprint('on', socket.gethostname())",
        "import platform\nplatform.node()",
        "import platform\nv = platform.python_version()",
    ],
    "CB410": [
        "print('http://localhost:8888')",
        "import os\nu = os.environ.get('U', 'http://localhost:5000')",
        "import subprocess, requests\np = subprocess.Popen(['serve'])\nrequests.get('http://localhost:80', timeout=1)",
        "import torch\ntorch.distributed.init_process_group('gloo', init_method='tcp://127.0.0.1:23456')",
        "u = 'http://localhost.example.org/x'",
        "'''see http://localhost:3000'''",
    ],
    "CB411": [
        "import os\nos.environ['A'] = '1'\nos.environ['A']",
        "import os\n%env A=1\nx = os.environ['A']",
        "import os\nos.environ.setdefault('A', '1')\nx = os.environ['A']",
        "import os\nif 'A' in os.environ:\n    x = os.environ['A']",
        "import os\ntry:\n    x = os.environ['A']\nexcept KeyError:\n    x = ''",
        "import os\nfrom dotenv import load_dotenv\nload_dotenv()\nx = os.environ['A']",
        "import os\nr = int(os.environ['LOCAL_RANK'])",
        "import os\nx = os.environ['A'] if 'A' in os.environ else ''",
        "import os\ndef key():\n    return os.environ['A']",
    ],
    "CB412": [
        "from datetime import datetime\nstart = datetime.now()\nprint(datetime.now() - start)",
        "from datetime import datetime\nname = f'run-{datetime.now():%Y%m%d}'",
        "from datetime import date\nprint(date.today())",
        "import pandas as pd\nlog(end=pd.Timestamp('2020-01-01'))\nlog = 0",
        "import datetime\nend_time = datetime.datetime.now()",
        "from datetime import datetime\nelapsed = datetime.now() - times[-1]\ntimes = []",
    ],
    "CB413": [
        "import time\nfrom datetime import datetime\ndatetime.fromtimestamp(time.time())",
        "import os\nfrom datetime import datetime\nx = datetime.fromtimestamp(os.path.getmtime('a'))",
        "import time\ntime.strftime('%H', time.localtime())",
        "from datetime import datetime, timezone\nx = datetime.fromtimestamp(3, timezone.utc)",
        "from datetime import datetime\nprint(datetime.fromtimestamp(row))\nrow = 1",
    ],
    "CB414": [
        "import locale\nlocale.setlocale(locale.LC_ALL)",
        "import locale\ntry:\n    locale.setlocale(locale.LC_ALL, 'de_DE')\nexcept locale.Error:\n    pass",
    ],
    "CB415": [
        "import spacy\nnlp = spacy.load('en_core_web_sm')",
        "!echo python -m spacy download x",
        "# !python -m spacy download x",
    ],
    "CB416": [
        "from torchvision import datasets\ndatasets.MNIST('data', download=False)",
        "from datasets import load_dataset\nload_dataset('x')",
        "from sklearn.datasets import load_iris, make_blobs\nload_iris()\nmake_blobs()",
    ],
    "CB417": [
        "import re\nre.compile('a\\\\d.csv')",
        "open('data/a.csv')",
        "print('a\\\\b.txt')",
        "import pandas as pd\npd.read_csv('a.csv', sep='\\t')",
        "open('a\\n.b')",
    ],
    "CB418": [
        "from transformers import AutoModel\nAutoModel.from_pretrained('./local', trust_remote_code=True)",
        "from transformers import AutoModel\nAutoModel.from_pretrained(name, trust_remote_code=True)\nname = 0",
        "from transformers import AutoModel\nAutoModel.from_pretrained('a/b', trust_remote_code=False)",
    ],
    "CB419": ["print('../a')", "t.to_csv('../out.csv')\nt = 0", "import os\nos.path.join('..', 'a')"],
}


@pytest.mark.parametrize(
    ("code", "text"),
    [(code, text) for code, texts in QUIET.items() for text in texts],
    ids=lambda value: value[:40],
)
def test_the_rule_says_nothing_here(code: str, text: str, lint: Lint) -> None:
    assert [finding for finding in lint(text) if finding.code == code] == []
