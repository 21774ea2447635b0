"""Forms of each fault of randomness, numerics and resources beyond the pages, and what must be left alone."""

# ruff: noqa: E501
# a case is one line, whatever its length

from __future__ import annotations

import pytest
from lint_kit import Lint

CAUGHT: list[tuple[str, list[tuple[int, int, str]], str]] = [
    ("CB102", [(0, 3, "warning")], "import time\nfrom transformers import TrainingArguments\nTrainingArguments('x', seed=int(time.time()))"),
    ("CB102", [(0, 4, "warning")], "import uuid\nfrom sklearn.model_selection import KFold\nn = uuid.uuid4().int\nKFold(3, shuffle=True, random_state=n % 100)"),
    ("CB102", [(0, 2, "warning")], "import time, tensorflow as tf\ntf.random.set_seed(int(time.time()))"),
    ("CB104", [(0, 2, "warning")], "from sklearn.cluster import KMeans\nKMeans(2)\nKMeans(3)"),
    ("CB104", [(0, 2, "warning")], "from sklearn.linear_model import LogisticRegression\nLogisticRegression(solver='saga')"),
    ("CB104", [(0, 2, "warning")], "import sklearn.ensemble as e\ne.RandomForestClassifier()\n# %%\nimport numpy as np\nnp.random.seed(0)"),
    ("CB106", [(0, 2, "warning")], "import torch\ndef set_seed(n):\n    torch.manual_seed(n)\n# %%\ntorch.rand(2)"),
    ("CB101", [(1, 1, "warning")], "import torch\ndef set_seed(n):\n    torch.manual_seed(n)\n# %%\ntorch.rand(2)"),
    ("CB105", [(0, 4, "warning")], "import random\ndef fix():\n    random.seed(0)\nrandom.random()\nfix()"),
    ("CB107", [(0, 3, "warning")], "import numpy as np\nfor step in range(9):\n    np.random.seed(1)"),
    ("CB110", [(0, 2, "warning")], "from torch.utils.data import DistributedSampler\nDistributedSampler([1])"),
    ("CB112", [(0, 4, "warning")], "import random\nfrom concurrent.futures import ProcessPoolExecutor\ndef f(i):\n    return random.random()\nwith ProcessPoolExecutor(2) as executor:\n    executor.submit(f, 1)"),
    ("CB113", [(0, 5, "warning")], "from jax import random\nkey = random.PRNGKey(0)\ndef init(key):\n    a, b = random.split(key)\n    return random.uniform(key)"),
    ("CB114", [(0, 2, "warning")], "from tensorflow import keras\nkeras.layers.Dense(3)"),
    ("CB116", [(0, 2, "warning")], "from optuna.samplers import TPESampler\nTPESampler()"),
    ("CB116", [(0, 2, "warning")], "from hyperopt import fmin\nfmin(f, space, algo=a)\nf = space = a = 0"),
    ("CB118", [(0, 2, "info")], "import pandas as pd\npd.DataFrame().sample(n=5)"),
    ("CB118", [(0, 3, "warning")], "import pandas as pd\ntable = pd.DataFrame()\nshuffled = table.sample(frac=1).reset_index(drop=True)"),
    ("CB120", [(0, 2, "warning")], "from monai.transforms import RandFlip\nRandFlip()"),
    ("CB121", [(0, 2, "info")], "import os\nos.environ.setdefault('PYTHONHASHSEED', '0')"),
    ("CB204", [(0, 3, "error")], "import torch\ntorch.use_deterministic_algorithms(True)\ntorch.nn.MaxUnpool2d(2)"),
    ("CB204", [(0, 3, "warning")], "import torch\ntorch.use_deterministic_algorithms(True)\nx.put_(i, y, accumulate=True)\nx.to('cuda' if torch.cuda.is_available() else 'cpu')\nx = i = y = 0"),
    ("CB204", [(0, 3, "info")], "import torch\ntorch.set_deterministic_debug_mode('error')\ntorch.histc(x)\nx = 0"),
    ("CB205", [(0, 3, "info")], "import torch.nn.functional as F\nx = y.cuda()\nF.scaled_dot_product_attention(x, x, x).sum().backward()\ny = 0"),
    ("CB207", [(0, 2, "warning")], "import torch._inductor.config\ntorch._inductor.config.max_autotune = True"),
    ("CB208", [(0, 3, "warning")], "import numpy as np\nimport multiprocessing as mp\nnp.array_split(range(9), mp.cpu_count())"),
    ("CB209", [(1, 2, "warning")], "import jax\n# %%\nimport os\nos.environ['JAX_ENABLE_X64'] = '1'"),
    ("CB211", [(0, 5, "warning")], "from concurrent.futures import as_completed\nfrom tqdm import tqdm\ntotal = 0.0\nfor done in tqdm(as_completed(tasks)):\n    total += done.result()\ntasks = []"),
    ("CB215", [(0, 2, "warning")], "import xgboost as xgb\nxgb.train({'booster': 'gblinear'}, data)\ndata = 0"),
    ("CB216", [(0, 2, "info")], "import lightgbm as lgb\nlgb.train({}, data)\ndata = 0"),
    ("CB219", [(0, 2, "warning")], "import optuna\noptuna.create_study(sampler=s).optimize(f, n_jobs=4)\ns = f = 0"),
    ("CB604", [(0, 2, "warning")], "import concurrent.futures as cf\ncf.ProcessPoolExecutor()"),
    ("CB605", [(0, 2, "info")], "from joblib import Parallel, delayed\nParallel(n_jobs=-1)(delayed(abs)(i) for i in range(3))\nParallel(n_jobs=-1)"),
    ("CB607", [(0, 3, "warning")], "import matplotlib.pyplot as plt\nfor i in range(30):\n    fig, ax = plt.subplots()\n    fig.savefig(f'{i}.png')"),
    ("CB610", [(0, 3, "warning")], "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\ndata = TensorDataset(x.cuda())\nDataLoader(data, num_workers=2)\nx = 0"),
    ("CB614", [(0, 4, "info")], "import numpy as np\nall = np.zeros(0)\nwhile True:\n    all = np.append(all, [1])"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "expected", "text"), CAUGHT, ids=[f"{c}-{t[:30]}" for c, _, t in CAUGHT])
def test_the_rule_finds_this(code: str, expected: list[tuple[int, int, str]], text: str, lint: Lint) -> None:
    found = [(f.cell_index, f.line, f.severity.value) for f in lint(text) if f.code == code]
    assert found == expected


QUIET: dict[str, list[str]] = {
    "CB102": [
        "import time\nfit(x, started=time.time(), seed=0)\nfit = print\nx = 0",
        "import time\nnp.random.seed(seed=3)\nt = time.time()\nnp = 0",
    ],
    "CB104": [
        "from sklearn.svm import SVC\nSVC()",
        "from sklearn.decomposition import PCA\nPCA(2)",
        "from sklearn.metrics import accuracy_score\naccuracy_score([1], [1])",
    ],
    "CB105": [
        "import numba, numpy as np\n@numba.njit\ndef draw():\n    return np.random.rand()\ndraw()\nnp.random.seed(0)",
        "import torch\ntorch.manual_seed(0)\ntorch.rand(2)\n# %%\ntorch.manual_seed(1)",
        "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader([1], shuffle=True)\n# %%\ntorch.manual_seed(0)\nfor x in loader:\n    pass",
        "import numpy as np\ndef draw():\n    return np.random.rand()\n# %%\nnp.random.seed(0)\ndraw()",
        "import numpy as np\nrng = np.random.default_rng(0)\nrng.normal()\nnp.random.seed(0)",
    ],
    "CB106": [
        "import torch\ndef seed_all(n):\n    torch.manual_seed(n)\nfor s in (1, 2):\n    seed_all(s)",
        "import random\ndef seed_worker(i):\n    random.seed(i)\nDataLoader([1], worker_init_fn=seed_worker)\nDataLoader = print",
        "import random\ndef shuffle_seeded(x):\n    random.seed(0)\n    random.shuffle(x)\nlist(map(shuffle_seeded, [[1]]))",
    ],
    "CB107": [
        "import torch\nfor epoch in range(3):\n    torch.manual_seed(epoch)",
        "import numpy as np\nfor model in models:\n    np.random.seed(0)\nmodels = []",
        "import torch\nfor epoch in range(3):\n    if epoch == 0:\n        torch.manual_seed(0)",
    ],
    "CB108": [
        "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __init__(self):\n        self.rng = np.random.default_rng(0)\n    def __getitem__(self, i):\n        return self.rng.normal()\nDataLoader(D())",
        "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __init__(self):\n        self.order = np.random.default_rng(0).permutation(9)\n    def __getitem__(self, i):\n        return self.order[i]\nDataLoader(D(), num_workers=2)",
    ],
    "CB109": [
        "import torch\nfrom torch.utils.data import DataLoader\nDataLoader([1], shuffle=True)\nmodel.load_state_dict(torch.load('x'))\nmodel = 0",
    ],
    "CB111": [
        "from torch.utils.data import DataLoader, IterableDataset\nclass D(IterableDataset):\n    def __iter__(self):\n        yield 1\nDataLoader(D())",
    ],
    "CB112": [
        "import numpy as np\nfrom multiprocessing import Pool\ndef f(i):\n    np.random.seed(i)\n    return np.random.rand()\nwith Pool(2) as pool:\n    pool.map(f, [1])",
        "import random\nfrom multiprocessing.pool import ThreadPool\ndef f(i):\n    return random.random()\nwith ThreadPool(2) as pool:\n    pool.map(f, [1])",
        "import random\ndef f(i):\n    return random.random()\nlist(map(f, [1]))  # multiprocessing",
    ],
    "CB113": [
        "import jax\nkey = jax.random.key(0)\nkey, sub = jax.random.split(key)\nx = jax.random.normal(sub)\nkey, sub = jax.random.split(key)\ny = jax.random.normal(sub)",
        "import jax\nkey = jax.random.key(0)\na = jax.random.normal(jax.random.fold_in(key, 1))\nb = jax.random.normal(jax.random.fold_in(key, 2))",
        "import jax\ndef f(key, train):\n    if train:\n        return jax.random.normal(key)\n    return jax.random.uniform(key)",
        "import random\nrandom.choice(x)\nrandom.choice(x)\nx = [1]  # jax",
        "import jax\nfor key in jax.random.split(jax.random.key(0), 3):\n    jax.random.normal(key)",
    ],
    "CB114": [
        "import tensorflow as tf\ntf.random.set_seed(0)\ntf.keras.layers.Dense(1)",
        "import keras\nkeras.utils.set_random_seed(1)\nkeras.layers.Dense(1)",
        "import tensorflow as tf\ntf.keras.layers.Flatten()\ntf.keras.layers.Dropout(0.1)",
        "import tensorflow as tf\ndef reset(seed=42):\n    tf.random.set_seed(seed)\nreset()\ntf.keras.layers.Dense(1)",
    ],
    "CB115": [
        "from transformers import AutoModelForCausalLM, Trainer\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\nTrainer(model).train()",
        "from transformers import AutoModelForSequenceClassification as A, Trainer\nTrainer(model_init=lambda: A.from_pretrained('x', num_labels=2)).train()",
        "from transformers import AutoModelForSequenceClassification as A\nA.from_pretrained('x', num_labels=2)",
    ],
    "CB116": [
        "import optuna\nstudy = optuna.create_study(sampler=optuna.samplers.GridSampler({}))",
        "import optuna\nstudy = optuna.create_study()\nstudy.sampler = optuna.samplers.TPESampler(seed=1)",
        "from optuna.samplers import RandomSampler\nRandomSampler(7)",
    ],
    "CB117": [
        "import gymnasium as gym\nenv = gym.make('x')\nenv.reset(seed=0)\nenv.reset()",
        "env = make()\nenv.reset()\nmake = list  # gym",
        "import gym\nenv = gym.make('x')\nenv.seed(0)\nenv.reset()",
    ],
    "CB118": [
        "import random\nimport pandas\nrandom.sample([1], 1)",
        "import pandas as pd\npd.DataFrame().sample(frac=1, random_state=0)",
        "import pandas\nimport numpy as np\nnp.random.seed(0)\ntable.sample(frac=1)\ntable = 0",
        "import pandas\nspace.sample()\nspace = 0",
    ],
    "CB120": [
        "import albumentations as A\nmirror = A.Compose([A.HorizontalFlip(p=1.0), A.Normalize()])",
        "import albumentations as A\nA.Compose([A.Resize(3, 3), A.Normalize()])",
        "from monai.transforms import RandFlip\nfrom monai.utils import set_determinism\nset_determinism(0)\nRandFlip()",
        "from torchvision import transforms\ntransforms.Compose([transforms.RandomCrop(2)])",
    ],
    "CB201": [
        "import torch\nmiddle = torch.median(x.cuda(), dim=0).values\nx = 0",
        "import torch\ntrainer.fit(model)\n# %%\nup = torch.nn.functional.interpolate(logits, size=3, mode='bilinear')\nlogits = trainer = model = 0  # cuda",
        "import torch\nx.index_add_(0, i, y)\ntorch.use_deterministic_algorithms(True, warn_only=True)\nx = i = y = 0",
        "import torch\nwith torch.no_grad():\n    torch.nn.functional.interpolate(x, mode='bilinear')\nloss.backward()\nx = loss = 0  # cuda",
        "import torch\nx.scatter_(1, index, 1.0)\nx = index = 0  # cuda",
        "import torch\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.scatter([1], [2], c='r')  # cuda",
        "import torch\ntorch.nn.Conv2d(1, 1, 1)",
    ],
    "CB204": [
        "import torch\ntorch.use_deterministic_algorithms(True, warn_only=True)\ntorch.nn.MaxUnpool2d(2)",
        "import torch\ntorch.use_deterministic_algorithms(False)\ntorch.nn.MaxUnpool2d(2)",
        "import torch\ntorch.use_deterministic_algorithms(True)\ntorch.nn.AdaptiveAvgPool2d(1).cuda()",
        "import torch\ntorch.use_deterministic_algorithms(True)\ntorch.bincount(x.cuda())\nx = 0",
    ],
    "CB205": ["import torch.nn.functional as F\nF.scaled_dot_product_attention(x, x, x)\nx = 0  # cuda"],
    "CB206": ["import torch\ntorch.use_deterministic_algorithms(True)\ntorch.nn.Linear(1, 1)"],
    "CB207": ["import torch\ntorch.compile(f, mode='reduce-overhead')\nf = 0  # max-autotune"],
    "CB208": ["import os, torch\ntorch.set_num_threads(min(4, os.cpu_count()))\nprint(os.cpu_count())"],
    "CB209": [
        "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch",
        "import json, os\nos.environ['OMP_NUM_THREADS'] = '1'",
        "import torch, os\ndef child():\n    os.environ['OMP_NUM_THREADS'] = '1'",
    ],
    "CB210": [
        "import numba, numpy as np\n@numba.njit(parallel=True)\ndef f(n, x):\n    y = np.arange(n)\n    for i in numba.prange(9):\n        y += x\n    return y",
        "import numba\n@numba.njit\ndef f(x):\n    s = 0.0\n    for i in numba.prange(9):\n        s += x[i]\n    return s",
        "import numba\n@numba.njit(parallel=True)\ndef f(x, y):\n    for i in numba.prange(9):\n        y[i] += x[i]",
    ],
    "CB211": [
        "from concurrent.futures import as_completed\ntotal = 0\nfor t in as_completed(tasks):\n    total += t.result()\ntasks = {}",
        "from concurrent.futures import as_completed\nresults = {}\nfor t in as_completed(tasks):\n    results[tasks[t]] = t.result()\ntasks = {}",
        "from concurrent.futures import as_completed\nn = 0\nfor t in as_completed(tasks):\n    n += 1\ntasks = {}",
    ],
    "CB212": [
        "import tensorflow as tf\ntf.random.set_seed(0)\ntf.config.experimental.enable_op_determinism()\nmodel.fit(x)\nmodel = x = 0",
        "import tensorflow as tf\ntf.random.set_seed(0)",
    ],
    "CB214": ["from transformers import TrainingArguments\nTrainingArguments('x', fp16=True, bf16=False)"],
    "CB215": ["from xgboost import XGBClassifier\nfrom catboost import CatBoostRegressor\nXGBClassifier()\nCatBoostRegressor(task_type='CPU')"],
    "CB216": ["import lightgbm as lgb\nlgb.LGBMClassifier(n_jobs=1)"],
    "CB218": ["import jax\njax.grad(f)\nf = abs"],
    "CB219": ["import optuna\nstudy.optimize(f, n_trials=3)\nstudy.optimize(f, n_jobs=1)\nstudy = f = 0"],
    "CB603": [
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'",
        "import os, subprocess\nenv = dict(os.environ)\nenv['CUDA_VISIBLE_DEVICES'] = '1'\nsubprocess.run(['x'], env=env)",
    ],
    "CB604": [
        "from multiprocessing import Pool\nPool(4)\nPool(processes=2)",
        "from multiprocessing.dummy import Pool\nPool()",
        "import os\nmap(str, range(os.cpu_count()))  # Pool",
    ],
    "CB605": ["from joblib import Parallel\nParallel(n_jobs=2)"],
    "CB602": [
        "import torch\nfor r in rs:\n    loss_of([r]).backward()\n    total += r\nrs = []\ntotal = loss_of = 0",
        "import torch\nlosses = []\nfor x in xs:\n    loss = f(x)\n    losses.append(loss)\nsum(losses).backward()\nloss.backward()\nxs = f = 0",
        "import torch\nfor loss in xs:\n    loss.backward()\n    metric.append(loss, count=3)\nxs = metric = []",
    ],
    "CB606": [
        "for x in y:\n    loss = model(x)\n    loss.backward()\n    kept.append(loss)\ny = model = kept = 0  # torch",
        "import torch\nouts = []\nfor x in xs:\n    out = model(x)\n    outs.append(out)\nxs = []\nmodel = abs",
        "import torch\nscores = []\nfor x in xs:\n    model(x).backward()\n    score = test_model(x)\n    scores.append(score)\nxs = []\nmodel = test_model = abs",
    ],
    "CB607": [
        "import matplotlib.pyplot as plt\nfor i in range(3):\n    plt.figure()\n    plt.savefig('x')\n    plt.show()",
        "import matplotlib.pyplot as plt\nfor i in range(3):\n    plt.figure()\n    plt.plot([1])",
        "import matplotlib.pyplot as plt\nplt.figure()\nplt.savefig('x')",
    ],
    "CB608": [
        "import torch\nmodel.eval()\nwith torch.no_grad():\n    for x in xs:\n        model(x)\nmodel = abs\nxs = []",
        "import torch\nmodel.eval()\nfor x in xs:\n    model(x).sum().backward()\nmodel = abs\nxs = []",
        "import torch\nmodel.eval()\nmodel(1)\nmodel = abs",
        "from fastai.vision import *\nmodel.eval()\nwith torch.no_grad():\n    for x in xs:\n        model(x)\nmodel = abs\nxs = []",
        "import torch\nmodel.eval()\nmodel.train()\nfor x in xs:\n    model(x)\nmodel = abs\nxs = []",
    ],
    "CB609": ["import os\nimport torch\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'x'\ntorch.ones(1, device='cuda')"],
    "CB610": ["import torch\nfrom torch.utils.data import TensorDataset\nTensorDataset(x.to(torch.float32))\nx = 0  # cuda"],
    "CB611": [
        "import tensorflow as tf\nimport torch\ntorch.ones(1).cuda()",
        "import tensorflow as tf\nimport torch\ntf.constant(1)\ntorch.ones(1)",
    ],
    "CB612": ["import json\nfrom torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __init__(self):\n        self.x = json.load(open('a'))\n    def __getitem__(self, i):\n        return self.x[i]\nDataLoader(D())"],
    "CB613": ["import torch\nfor epoch in range(3):\n    torch.cuda.empty_cache()"],
    "CB614": [
        "import pandas as pd\nfor i in range(3):\n    table = pd.concat([table, more])\ntable = more = 0",
        "import torch\nfor step in range(99):\n    ids = torch.cat([ids, model(ids)], dim=1)\n    print(ids)\nids = model = 0",
        "import torch\nfor x in xs:\n    ids = x.ids\n    ids = torch.cat([ids, x.end])\nxs = []",
        "import pandas as pd\nfor x in xs:\n    table = pd.concat([a, b])\nxs = a = b = []",
    ],
}  # fmt: skip
LEFT_ALONE = [(code, text) for code, texts in QUIET.items() for text in texts]


@pytest.mark.parametrize(("code", "text"), LEFT_ALONE, ids=[f"{c}-{t[:30]}" for c, t in LEFT_ALONE])
def test_the_rule_leaves_this_alone(code: str, text: str, lint: Lint) -> None:
    assert [f.message for f in lint(text) if f.code == code] == []
