"""Forms of each fault beyond the examples on the rules' pages: (code, line, severity) in order."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

CAUGHT: list[tuple[str, list[tuple[int, int, str]], str]] = [
    ("CB002", [(0, 1, "error")], "return 1"),
    ("CB002", [(0, 1, "error")], "print 'a'"),
    ("CB101", [(0, 2, "warning")], "from random import shuffle\nshuffle([1])"),
    ("CB101", [(0, 2, "warning")], "import torch.nn as nn\nnn.Sequential(nn.Linear(1, 2))"),
    ("CB101", [(0, 3, "warning")], "import numpy as np\ndef f():\n    return np.random.rand()"),
    ("CB105", [(0, 2, "warning")], "import numpy as np\nnp.random.rand()\n# %%\nnp.random.seed(0)"),
    ("CB101", [(0, 2, "warning")], "from torch.utils.data import DataLoader\nDataLoader([1], shuffle=True)"),
    ("CB101", [(0, 2, "warning")], "from torch.utils.data import random_split\nrandom_split([1], [1])"),
    ("CB101", [(0, 1, "warning")], "%time np.random.rand()\nimport numpy as np"),
    ("CB101", [(0, 3, "warning")], "import random, tensorflow as tf\ntf.random.set_seed(1)\nrandom.random()"),
    ("CB102", [(0, 2, "warning")], "import random\nrandom.seed()"),
    ("CB102", [(0, 2, "warning")], "import numpy as np\nnp.random.RandomState(None)"),
    ("CB102", [(0, 2, "warning")], "import os, torch\ntorch.manual_seed(int.from_bytes(os.urandom(4), 'big'))"),
    ("CB102", [(0, 4, "warning")], "import time, random\na = time.time()\nb = int(a) % 100\nrandom.seed(b)"),
    ("CB102", [(0, 2, "warning")], "import torch\ntorch.seed()"),
    ("CB102", [(0, 2, "warning")], "import random, torch\nrandom.seed(torch.initial_seed())"),
    (
        "CB103",
        [(0, 4, "warning")],
        "from torchvision import transforms\nfrom torch.utils.data import DataLoader\n"
        "t = transforms.RandomCrop(3)\nDataLoader(Data(t), num_workers=2)",
    ),
    (
        "CB103",
        [(0, 5, "info")],
        "import torch\nfrom torchvision import transforms\ntorch.manual_seed(0)\nd = Data(transforms.RandomCrop(3))\n"
        "torch.utils.data.DataLoader(d, num_workers=2)",
    ),
    ("CB104", [(0, 2, "warning")], "from sklearn.cluster import KMeans\nKMeans(3, random_state=None)"),
    ("CB104", [(0, 2, "warning")], "from sklearn import model_selection as ms\nms.KFold(3, shuffle=True)"),
    ("CB201", [(0, 2, "info")], "import torch\ntorch.nn.CTCLoss()(x, y).backward()\nx = y = 0"),
    (
        "CB201",
        [(0, 3, "warning")],
        "import torch.nn.functional as F\ndevice = 'cuda'\nF.interpolate(1, scale_factor=2, mode='bilinear').sum().backward()",
    ),
    ("CB201", [(0, 3, "warning")], "import torch\nx.cuda()\nx.index_add_(0, i, y)\nx = i = y = 0"),
    ("CB202", [(0, 2, "warning")], "from torch.backends import cudnn\ncudnn.benchmark = True"),
    ("CB203", [(0, 2, "warning")], "import torch\ntorch.backends.cuda.matmul.fp32_precision = 'tf32'"),
    ("CB301", [(0, 2, "warning")], "from glob import glob\nfor f in glob('*'):\n    rows.append(f)\nrows = []"),
    ("CB301", [(0, 2, "warning")], "import os\nlabels = {n: i for i, n in enumerate(os.listdir('x'))}"),
    ("CB301", [(0, 2, "warning")], "from pathlib import Path\nfiles = list(Path('x').rglob('*.png'))"),
    ("CB301", [(0, 2, "warning")], "import os\nfor root, dirs, files in os.walk('x'):\n    use(files)\nuse = 0"),
    ("CB302", [(0, 2, "warning")], "s = set('ab') | {'c'}\nclasses = list(s)"),
    ("CB302", [(0, 2, "warning")], "s = set('ab')\nfor x in s:\n    rows.append(x)\nrows = []"),
    ("CB302", [(0, 2, "warning")], "s = {x for x in 'ab'}\nt = [c for c in s]"),
    ("CB303", [(0, 1, "warning")], "fold = hash('id') % 5"),
    ("CB401", [(0, 1, "error")], "pip install torch"),
    ("CB401", [(0, 1, "error")], "!{sys.executable} -m pip install -q x"),
    ("CB401", [(0, 1, "error")], "!cd x && pip3 install ."),
    ("CB401", [(0, 1, "error")], "!pip -q install x"),
    ("CB401", [(0, 1, "error")], "%conda install -y x"),
    ("CB401", [(0, 1, "error")], "!uv pip install x"),
    ("CB405", [(0, 3, "error")], "%%bash\nset -e\nsudo apt-get install -y x"),
    ("CB401", [(0, 2, "error")], "import os\nos.system('pip install x')"),
    ("CB401", [(0, 2, "error")], "if True:\n    !pip install x"),
    ("CB402", [(0, 1, "warning")], "open(f'/Users/anna/{name}.csv')\nname = 1"),
    ("CB402", [(0, 1, "warning")], "path = 'C:\\\\Users\\\\anna'"),
    ("CB402", [(0, 2, "warning")], "import numpy as np\nnp.load('/data/train/x.npy')"),
    ("CB402", [(0, 1, "warning")], "x = '~/data'"),
    ("CB402", [(0, 1, "warning")], "x = '/content/drive/MyDrive'"),
    ("CB402", [(0, 1, "warning")], "f(data_dir='/mnt/a/b')\nf = 1"),
    ("CB403", [(0, 2, "warning")], "from datasets import load_dataset\nload_dataset('squad')"),
    ("CB403", [(0, 2, "warning")], "import torch\ntorch.hub.load('pytorch/vision', 'resnet18')"),
    ("CB403", [(0, 2, "warning")], "import pandas as pd\npd.read_csv('https://host/x.csv')"),
    ("CB403", [(0, 2, "warning")], "from urllib.request import urlretrieve\nurlretrieve('http://x', 'y')"),
    ("CB403", [(0, 2, "warning")], "from sklearn.datasets import fetch_openml\nfetch_openml('mnist_784')"),
    ("CB403", [(0, 3, "warning")], "%%bash\nmkdir x\ncurl -O http://x/y"),
    ("CB404", [(0, 1, "warning")], "x = 'hf_" + "aB3" * 11 + "'"),
    ("CB404", [(0, 1, "warning")], "db = 'postgres://anna:s3cret-word@host/db'"),
    ("CB404", [(0, 1, "warning")], "%env WANDB_API_KEY=" + "a1b2c3d4" * 4),
    ("CB404", [(0, 1, "warning")], "connect(password='tr0ub4dor')\nconnect = 1"),
    ("CB404", [(0, 1, "warning")], "config = {'client_secret': 'abc-12345'}"),
    ("CB501", [(0, 2, "error")], "from getpass import getpass\ntoken = getpass()"),
    ("CB501", [(0, 2, "warning")], "def ask():\n    return input()"),
    ("CB501", [(0, 2, "warning")], "from ipywidgets import interact\ninteract(print, x=3)"),
    ("CB502", [(0, 1, "error")], "exit()\n# %%\nx = 1"),
    ("CB502", [(0, 1, "error")], "raise SystemExit(0)\n# %%\nx = 1"),
    ("CB502", [(0, 3, "warning")], "import sys\nif len(sys.argv) > 9:\n    sys.exit(1)\n# %%\nx = 1"),
    ("CB503", [(0, 1, "info")], "out = !make data\nprint(out)"),
    ("CB503", [(0, 1, "info")], "%%bash\nmake\nmake install"),
    ("CB503", [(0, 2, "info")], "import os\nos.system('make')"),
    ("CB504", [(0, 1, "warning")], "%matplotlib widget"),
    ("CB504", [(0, 2, "error")], "import matplotlib\nmatplotlib.use('TkAgg')"),
    ("CB504", [(0, 1, "error")], "import pdb; pdb.set_trace()"),
    ("CB504", [(0, 1, "error")], "%debug"),
    ("CB504", [(0, 2, "error")], "import matplotlib.pyplot as plt\nplt.show(block=True)"),
    (
        "CB505",
        [(0, 4, "warning")],
        "for b in [1]:\n    try:\n        model.fit(b)\n    except:\n        pass\nmodel = 1",
    ),
    ("CB601", [(0, 2, "warning")], "from multiprocessing import Pool\nPool(64)"),
    (
        "CB601",
        [(0, 3, "warning")],
        "import os\nfrom torch.utils.data import DataLoader\nDataLoader(1, num_workers=os.cpu_count() // 2)",
    ),
    (
        "CB602",
        [(0, 5, "warning")],
        "losses = []\nfor x in [1]:\n    loss = f(x)\n    loss.backward()\n    losses.append(loss)\nf = 1",
    ),
    (
        "CB602",
        [(0, 5, "warning")],
        "total = 0\nfor x in [1]:\n    loss = f(x)\n    accelerator.backward(loss)\n    total += loss * 2\nf = accelerator = 1",
    ),
    ("CB603", [(0, 1, "info")], "model.cuda()\nmodel = 1"),
    ("CB603", [(0, 1, "warning")], "model.cuda(2)\nmodel = 1"),
    ("CB603", [(0, 2, "warning")], "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'"),
    ("CB603", [(0, 1, "warning")], "%env CUDA_VISIBLE_DEVICES=1"),
    ("CB701", [(1, 1, "error")], "def f():\n    return later\n# %%\nf()\n# %%\nlater = 1"),
    (
        "CB701",
        [(1, 1, "error")],
        "def f():\n    return later\ndef g():\n    return f()\n# %%\ng()\n# %%\nlater = 1",
    ),
    ("CB701", [(0, 1, "error")], "x = later + 1\n# %%\nimport later"),
    ("CB701", [(0, 1, "error")], "total += 1\n# %%\ntotal = 0"),
    ("CB702", [(0, 1, "error")], "count = count + 1"),
    ("CB702", [(0, 2, "error")], "x = 1\ntable['a'] = x"),
    ("CB702", [(0, 2, "warning")], "def f():\n    return missing"),
    ("CB702", [(0, 2, "error")], "for i in range(3):\n    print(i, missing, missing)"),
    ("CB702", [(0, 1, "error")], "print([missing for i in range(3)])"),
    ("CB702", [(0, 1, "error")], "class A(missing):\n    pass"),
    ("CB702", [(0, 1, "error")], "def f(x=missing):\n    pass"),
    ("CB703", [(1, 1, "info")], "rows = []\n# %%\nrows.append(1)\nrows.append(2)"),
    (
        "CB703",
        [(1, 1, "info")],
        "import pandas as pd\nt = pd.DataFrame()\n# %%\nt.drop(columns='a', inplace=True)",
    ),
    ("CB703", [(1, 1, "info")], "total = 0\n# %%\ntotal += 1"),
]


@pytest.mark.parametrize(("code", "expected", "text"), CAUGHT, ids=[f"{c}-{t[:30]}" for c, _, t in CAUGHT])
def test_the_rule_catches_this(code: str, expected: list[tuple[int, int, str]], text: str, lint: Lint) -> None:
    found = [(f.cell_index, f.line, f.severity.value) for f in lint(text) if f.code == code]
    assert found == expected


def test_a_credential_never_stands_in_a_message(lint: Lint) -> None:
    secret = "q7Lm2Zx9Rt4Vb8Nw1Kd6"
    findings = lint(f"api_key = '{secret}'\n!curl -u me:{secret} http://host/x\n%env API_KEY={secret}")
    assert "CB404" in {finding.code for finding in findings}
    assert [f for f in findings if f.code == "CB404" and secret in f.message + f.remedy] == []


def test_what_is_changed_again_is_named_by_the_cell_that_made_it_last(lint: Lint) -> None:
    [finding] = [f for f in lint("t = 1\n# %%\nt = 2\n# %%\nt += 1") if f.code == "CB703"]
    assert "`t` of cell 1" in finding.message
