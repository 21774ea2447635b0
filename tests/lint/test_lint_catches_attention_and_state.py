"""Forms of each fault of the families CB5 and CB7 beyond the examples: (code, line, severity) in order."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

CAUGHT: list[tuple[str, list[tuple[int, int, str]], str]] = [
    ("CB502", [(0, 2, "error")], "import os\nos.kill(os.getpid(), 9)\n# %%\nx = 1"),
    ("CB502", [(0, 1, "error")], "get_ipython().kernel.do_shutdown(True)\n# %%\nx = 1"),
    ("CB506", [(0, 1, "info")], "import tqdm.notebook as tqdm"),
    ("CB506", [(0, 2, "info")], "from tqdm import tqdm_notebook as tqdm\nfor i in tqdm([1]):\n    pass"),
    (
        "CB507",
        [(0, 3, "info")],
        "from IPython import display\nwhile True:\n    display.display(figure)\n    figure = 0",
    ),
    (
        "CB507",
        [(0, 4, "info")],
        "for batch in data:\n    loss = batch.sum()\n    loss.backward()\n    display(loss)\ndata = []",
    ),
    (
        "CB508",
        [(0, 5, "info")],
        "import matplotlib.pyplot as plt\nfor e in range(9):\n    for b in e:\n        b.backward()\n    plt.show()",
    ),
    (
        "CB509",
        [(0, 2, "warning")],
        "import itertools\nfor step in itertools.count():\n    loss.backward()\nloss = 0",
    ),
    (
        "CB510",
        [(0, 4, "info")],
        "import torch\nfrom tqdm import trange\nEPOCHS = 100\nfor e in trange(EPOCHS):\n    for b in d:\n        b.backward()\ntorch.save(d, 'x')\nd = 0",
    ),
    ("CB511", [(0, 2, "info")], "import lightning as L\nL.Trainer(max_epochs=9, enable_checkpointing=False)"),
    ("CB512", [(0, 2, "warning")], "import torch\nloss = torch.nan_to_num(loss)"),
    (
        "CB512",
        [(0, 3, "warning")],
        "import math\nfor b in d:\n    if not math.isfinite(loss.item()):\n        continue\nd = loss = 0",
    ),
    ("CB512", [(0, 1, "warning")], "loss = train_loss.nan_to_num()\ntrain_loss = 0"),
    (
        "CB512",
        [(0, 3, "warning")],
        "import torch\nfor b in d:\n    if torch.isnan(loss).any():\n        loss = 0.0\nd = loss = 0",
    ),
    (
        "CB512",
        [(0, 3, "warning")],
        "import numpy as np\nfor b in d:\n    if not np.isnan(loss):\n        losses.append(loss)\nd = loss = losses = []",
    ),
    ("CB512", [(0, 2, "warning")], "import torch\nloss[torch.isnan(loss)] = 0\nloss = 0"),
    ("CB513", [(0, 2, "info")], "from urllib.request import urlopen\nurlopen('http://x.org').read()"),
    (
        "CB514",
        [(0, 3, "warning")],
        "import time, requests\ndef get(u):\n    while True:\n        try:\n            return requests.get(u, timeout=1)\n        except:\n            time.sleep(1)",
    ),
    (
        "CB514",
        [(0, 3, "warning")],
        "import time\nfrom pathlib import Path\nwhile not Path('a').exists():\n    time.sleep(1)",
    ),
    ("CB515", [(0, 1, "warning")], "!nohup python a.py > log 2>&1"),
    ("CB515", [(0, 1, "warning")], "%%script bash --bg\nsleep 3"),
    ("CB515", [(0, 3, "warning")], "%%bash\nset -e\npython a.py &"),
    ("CB516", [(0, 2, "error")], "from google.colab import drive\ndrive.mount('/content/drive')"),
    ("CB516", [(0, 1, "error")], "!huggingface-cli login"),
    ("CB516", [(0, 1, "error")], "!gcloud auth application-default login"),
    ("CB516", [(0, 2, "warning")], "from huggingface_hub import login\nlogin()"),
    ("CB518", [(0, 2, "info")], "from threading import Thread\nThread(target=print, daemon=True).start()"),
    ("CB519", [(0, 4, "warning")], "import gradio as gr\nwith gr.Blocks() as demo:\n    pass\ndemo.launch()"),
    ("CB519", [(0, 3, "warning")], "from flask import Flask\napp = Flask('a')\napp.run(port=8000)"),
    (
        "CB519",
        [(0, 2, "warning")],
        "import gradio as gr\ngr.Interface(fn=str, inputs='text', outputs='text').launch()",
    ),
    ("CB520", [(0, 2, "info")], "import warnings\nwarnings.simplefilter('ignore')"),
    ("CB520", [(0, 2, "info")], "import numpy as np\nnp.seterr(divide='ignore', invalid='ignore')"),
    (
        "CB521",
        [(0, 3, "info")],
        "try:\n    model.fit(x)\nexcept KeyboardInterrupt:\n    print('stopped')\nmodel = x = 0",
    ),
    ("CB522", [(0, 2, "error")], "import pandas\npandas.read_clipboard()"),
    ("CB522", [(0, 3, "warning")], "import cv2\ndef film():\n    return cv2.VideoCapture(0)"),
    ("CB703", [(1, 1, "info")], "x = [1, 2]\n# %%\nx = x[1:]"),
    ("CB704", [(0, 1, "info")], "%autoreload explicit"),
    ("CB705", [(0, 1, "info")], "%run -i ./setup.ipynb"),
    ("CB705", [(0, 1, "info")], "exec(code)\ncode = ''"),
    ("CB706", [(0, 1, "error")], "%store -r"),
    ("CB706", [(0, 1, "error")], "%rerun 4-6"),
    ("CB707", [(0, 1, "warning")], "x = _12 + 1"),
    ("CB707", [(0, 1, "info")], "x = _.copy()"),
    ("CB707", [(0, 1, "warning")], "print(In[-1])"),
    ("CB708", [(1, 1, "info")], "# %% In [5]\na = 1\n# %% In [4]\nb = 1\n# %% In [3]\nc = 1"),
    ("CB709", [(1, 1, "info")], "# %% In [5]\na = 1\n# %% In [ ]\nb = 1\n# %% In [ ]\nb = 2\n# %% In [6]\nc = 1"),
    ("CB710", [(0, 1, "info")], "# %% In [5] KeyboardInterrupt\na = 1"),
    (
        "CB711",
        [(1, 1, "info")],
        "import torch\nif torch.cuda.is_available():\n    device = 'cuda'\n# %%\nmodel = device",
    ),
    ("CB711", [(1, 1, "warning")], "load = True\nif not load:\n    import json\n# %%\njson.dumps(1)"),
    (
        "CB711",
        [(1, 1, "info")],
        "found = False\nif a:\n    found = True\nif not found:\n    c = 2\n# %%\nprint(c)\na = 0",
    ),
    ("CB712", [(0, 1, "warning")], "list = [1]\n# %%\nx = list(range(3))"),
    ("CB712", [(1, 1, "info")], "x = max(1, 2)\n# %%\nmax = 3"),
    ("CB713", [(0, 2, "warning")], "import random\nrandom = random.random()\nrandom.random()"),
    ("CB713", [(2, 1, "info")], "import json\n# %%\njson.dumps(1)\n# %%\njson = {'a': 1}"),
    ("CB715", [(0, 3, "error")], "a = 1\ndel a\nprint(a)"),
    ("CB715", [(1, 1, "error")], "a = b = 1\ndel a, b\n# %%\nc = b + 1"),
]


@pytest.mark.parametrize(("code", "places", "text"), CAUGHT, ids=lambda value: str(value)[:40])
def test_the_rule_finds_this_at_that_level(
    code: str, places: list[tuple[int, int, str]], text: str, lint: Lint
) -> None:
    found = [finding for finding in lint(text) if finding.code == code]
    assert [(finding.cell_index, finding.line, finding.severity.value) for finding in found] == places
