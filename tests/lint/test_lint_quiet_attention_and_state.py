"""What the rules of the families CB5 and CB7 must leave alone. A false alarm is as much a bug as a miss."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

QUIET: dict[str, list[str]] = {
    "CB502": ["import os\nos.kill(child, 9)\nchild = 1\n# %%\nx = 1", "import os\nos.kill(os.getpid(), 9)"],
    "CB506": [
        "from tqdm import tqdm\nfor i in tqdm([1]):\n    pass",
        "import notebook",
        "from tqdm.auto import trange",
    ],
    "CB507": [
        "from IPython.display import clear_output\nclear_output()",
        "for t in tables:\n    display(t)\ntables = []",
        "from IPython.display import clear_output\ndef draw():\n    clear_output()",
    ],
    "CB508": [
        "import matplotlib.pyplot as plt\nfor i in range(3):\n    plt.plot([i])\n    plt.show()",
        "import matplotlib.pyplot as plt\nfor e in range(300):\n    loss.backward()\n    if e % 100 == 0:\n        plt.show()\nloss = 0",
        "import matplotlib.pyplot as plt\nfor e in range(300):\n    loss.backward()\nplt.show()\nloss = 0",
    ],
    "CB509": [
        "while True:\n    loss.backward()\n    if loss < 1:\n        break\nloss = 0",
        "while True:\n    x = input()\n    print(x)",
        "while step < 100:\n    loss.backward()\n    step += 1\nloss = step = 0",
    ],
    "CB510": [
        "import torch\nfor e in range(100):\n    for b in d:\n        b.backward()\n    torch.save(d, 'x')\ntorch.save(d, 'y')\nd = 0",
        "import torch\nfor e in range(5):\n    for b in d:\n        b.backward()\ntorch.save(d, 'y')\nd = 0",
        "for e in range(100):\n    for b in d:\n        b.backward()\nd = 0",
        "import torch\nfor e in range(100):\n    for b in d:\n        b.backward()\n# %%\nfor e in range(3):\n    for b in d:\n        b.backward()\ntorch.save(d, 'y')\nd = 0",
    ],
    "CB511": [
        "from transformers import TrainingArguments\nTrainingArguments('out', save_strategy='steps')",
        "import lightning as L\nL.Trainer(fast_dev_run=True, enable_checkpointing=False)",
    ],
    "CB512": [
        "import numpy as np\nx = np.nan_to_num(features)\nfeatures = 0",
        "import numpy as np\nm = np.nanmean(prices)\nprices = 0",
        "import math\nfor b in d:\n    if math.isnan(loss):\n        print('stop')\n        break\nd = loss = 0",
        "import math\nif math.isnan(loss):\n    pass\nloss = 0",
        "import math\nfor b in d:\n    if not math.isnan(loss):\n        continue\n    raise ValueError\nd = loss = 0",
        "import math\nfor b in d:\n    if math.isfinite(loss):\n        step()\n    else:\n        raise ValueError\nd = loss = 0",
        "import numpy as np\nx[np.isnan(x)] = 0\nx = 0",
        "import math\nfor b in d:\n    if math.isnan(price):\n        continue\nd = price = 0",
        "import math\nfor b in d:\n    if math.isfinite(loss):\n        continue\n    raise ValueError\nd = loss = 0",
    ],
    "CB513": [
        "import requests\nrequests.get('http://x', timeout=3)",
        "import socket\nfrom urllib.request import urlopen\nsocket.setdefaulttimeout(3)\nurlopen('http://x')",
        "import requests\nrequests.get('http://x', **options)\noptions = {}",
        "import requests\nrequests.get('http://x', timeout=3)\nrequests.Session()",
    ],
    "CB514": [
        "while True:\n    try:\n        x = int(next(a))\n        break\n    except ValueError:\n        pass\na = 0",
        "n = 0\nwhile True:\n    try:\n        f()\n        break\n    except Exception:\n        n += 1\n        if n > 3:\n            raise\nf = 0",
        "import os, time\nwhile not os.path.exists('a'):\n    time.sleep(1)\n    if time.time() > 9:\n        break",
        "while True:\n    x = next(a)\n    if x:\n        break\na = 0",
    ],
    "CB515": [
        "!a && b",
        "!a 2>&1",
        "!echo 'a & b'",
        "import subprocess\np = subprocess.Popen(['a'])\np.wait()",
        "import subprocess\nout, err = subprocess.Popen(['a']).communicate()",
        "%%bash\na &\nwait",
        "x = a & b\na = b = 1",
    ],
    "CB516": [
        "from huggingface_hub import login\nlogin(token=t)\nt = ''",
        "import wandb, os\nos.environ['WANDB_API_KEY'] = key\nwandb.login()\nkey = 0",
        "!huggingface-cli login --token $HF_TOKEN",
        "!wandb login $KEY",
        "import wandb\nwandb.login(anonymous='must')",
        "login()\nlogin = print",
        "if 0 == x:\n    import wandb\n    wandb.login()\nx = 1",
    ],
    "CB517": [
        "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=0)",
        "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=2, timeout=9)",
        "import tensorflow\nfit(num_workers=3)\nfit = 0",
    ],
    "CB518": [
        "from threading import Thread\nt = Thread(target=print, daemon=True)\nt.start()\nt.join()",
        "from threading import Thread\nThread(target=print).start()",
    ],
    "CB519": [
        "import gradio as gr\ndef main():\n    gr.Interface(str, 'text', 'text').launch()",
        "import subprocess, dash\nsubprocess.run(['a'], check=True)",
        "import flask\nmodel = 0\nmodel.run()",
        "%load_ext tensorboard",
    ],
    "CB520": [
        "import warnings\nwarnings.filterwarnings('ignore', message='x')",
        "import warnings\nwarnings.filterwarnings('always')",
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')",
        "import numpy as np\nnp.seterr(divide='ignore')",
    ],
    "CB521": [
        "try:\n    model.fit(x)\nexcept KeyboardInterrupt:\n    raise\nmodel = x = 0",
        "try:\n    read()\nexcept KeyboardInterrupt:\n    pass\nread = 0",
    ],
    "CB522": [
        "import cv2\ncv2.VideoCapture('a.mp4')",
        "import cv2\ncv2.VideoCapture(path)\npath = 'a'",
        "import pandas as pd\npd.read_csv('a')",
    ],
    "CB703": [
        "t = read()\n# %%\nt = t[['a', 'b']].copy()\nread = 0",
        "t = read()\n# %%\nt = t[(t.a > 3) & ~t.b.isna()]\nread = 0",
        "x = read()\n# %%\nx = x[:100]\nread = 0",
        "t = read()\n# %%\nt = t.rename(columns={'A': 'a'})\nread = 0",
        "def clean(t):\n    return t\nt = clean(1)\n# %%\nt = clean(t)",
    ],
    "CB701": ["x = 1\n# %%\ny = x + 1\n# %%\nx = 2"],
    "CB704": ["%load_ext autoreload", "%autoreload off"],
    "CB705": ["exec('x = 1')", "exec(code, {})\ncode = ''", "def f(code):\n    exec(code)", "!run x"],
    "CB706": ["x = 1\n%store x\n# %%\n%store -r x", "%store x\nx = 1", "%store -z", "store = 1"],
    "CB707": [
        "for _ in range(3):\n    print(_)",
        "a, _ = 1, 2\nprint(_)",
        "import gettext\n_('text')",
        "def f(_1):\n    return _1",
        "Out = {1: 2}\nprint(Out[1])",
        "print(len(Out))",
        "_private = 1\nprint(_private)",
    ],
    "CB708": [
        "# %% In [1]\na = 1\n# %% In [ ]\nb = 1\n# %% In [4]\nc = 1",
        "a = 1\n# %%\nb = 1",
        "# %% In [3]\na = 1\n# %% In [0]\nb = 1",
    ],
    "CB709": ["# %% In [ ]\na = 1\n# %% In [ ]\nb = 1", "# %% In [1]\na = 1\n# %% In [ ]\n\n# %% In [2]\nb = 1"],
    "CB710": ["# %% In [1]\nraise ValueError"],
    "CB711": [
        "found = False\nif a in b:\n    found = True\n    c = 1\nif not found:\n    c = 2\n# %%\nprint(c)\na = b = 0",
        "if a:\n    b = 1\nelse:\n    b = 2\n# %%\nprint(b)\na = 0",
        "b = 0\n# %%\nif a:\n    b = 1\n# %%\nprint(b)\na = 0",
        "if a:\n    b = 1\n# %%\nif a:\n    print(b)\na = 0",
        "if a:\n    b = 1\n# %%\nb = 2\nprint(b)\na = 0",
        "if a == 1:\n    b = 1\nelif a == 2:\n    b = 2\n# %%\nprint(b)\na = 0",
        "if 'b' not in globals():\n    b = 1\n# %%\nprint(b)",
        "if not a:\n    raise ValueError\nelse:\n    b = 1\n# %%\nprint(b)\na = 0",
        "if a:\n    b = 1\n# %%\ndef f():\n    return b\na = 0",
        "if a:\n    b = 1\n    print(b)\na = 0",
        "if a:\n    import json\n# %%\nimport json\njson.dumps(1)\na = 0",
    ],
    "CB712": [
        "list = [1]\nprint(list)",
        "input = Input(shape=3)\nx = input(3)\nInput = 0",
        "sum = 0\n# %%\ndel sum\n# %%\nsum([1])",
        "def f(list):\n    return list(3)\nlist = [1]",
        "max = None\n# %%\nmax(1, 2)",
        "class A:\n    id = 3\nid(A)",
    ],
    "CB713": [
        "import json\njson.dumps(1)\njson = __import__('ujson')\njson.dumps(1)",
        "import importlib, utils\nutils.a\nutils = importlib.reload(utils)\nutils.a",
        "import time\nt = time.time()",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.zeros(1)",
        "import numpy as np\nnp.zeros(1)\ndef f(np):\n    np = 3\n    return np.zeros",
    ],
    "CB714": [
        "def f():\n    return 1\nf()\n# %%\ndef f():\n    return 2\nf()",
        "def f():\n    return 1\n# %%\nf()\n# %%\ndef f():\n    return 1\nf()",
        "def f():\n    return 1\n# %%\ndef f():\n    return 2\n# %%\nf()",
        "def f():\n    return 1\n# %%\nx = 3\n# %%\ndef f():\n    return 2",
    ],
    "CB715": [
        "a = 1\ndel a\na = 2\nprint(a)",
        "a = 1\nif a:\n    del a\nprint(a)",
        "a = [1]\ndel a[0]\nprint(a)",
        "import b\ndel b.c\nprint(b)",
        "a = 1\ndel a\n# %%\ndef a():\n    pass\na()",
        "a = 1\ndel a\n# %%\nimport json as a\na.x",
        "a = 1\ndel a\n# %%\ndef f():\n    return a\n",
        "a = 1\ndel a\n# %%\ntry:\n    a\nexcept NameError:\n    pass",
        "for a in [1]:\n    b = a\n    del b\nprint(1)",
        "a = 1\ndel a\n# %%\nfor a in [1]:\n    print(a)",
    ],
}


@pytest.mark.parametrize(
    ("code", "text"),
    [(code, text) for code, texts in QUIET.items() for text in texts],
    ids=lambda value: value[:40],
)
def test_the_rule_has_nothing_to_say_here(code: str, text: str, lint: Lint) -> None:
    assert [finding for finding in lint(text) if finding.code == code] == []
