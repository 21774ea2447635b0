"""How many notebooks lint reads and checks in a second on one core.

Run: ``python benchmarks/lint.py``. Prints a table; the goal is 200 notebooks a second.
Each notebook is another file with other names, so that no cache of a cell helps.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.runtime.source import parse_cell

COUNT = 200
CELLS = (
    "%matplotlib inline\nimport os\nimport random\n\nimport numpy as np\nimport pandas as pd\nimport torch\n"
    "from torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset",
    "SEED_{n} = {n}\nrandom.seed(SEED_{n})\nnp.random.seed(SEED_{n})\ntorch.manual_seed(SEED_{n})",
    "table_{n} = pd.read_csv('data/train_{n}.csv')\ntable_{n} = table_{n}.dropna()\n"
    "table_{n}['ratio'] = table_{n}['a'] / table_{n}['b']\ntable_{n}.describe()",
    "files_{n} = sorted(os.listdir('images_{n}'))\nlabels_{n} = {{name: i for i, name in enumerate(files_{n})}}",
    "def load_{n}(path, size=({n}, 64)):\n    '''Load one image.'''\n    data = np.load(path)\n"
    "    if data.shape != size:\n        raise ValueError(f'{{path}}: {{data.shape}}')\n"
    "    return (data - data.mean()) / (data.std() + 1e-6)",
    "class Net{n}(nn.Module):\n    def __init__(self, width=128):\n        super().__init__()\n"
    "        self.body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))\n\n"
    "    def forward(self, x):\n        return self.body(x)",
    "model_{n} = Net{n}()\noptimizer_{n} = torch.optim.Adam(model_{n}.parameters(), lr=1e-{n})\n"
    "loss_fn = nn.CrossEntropyLoss()\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'",
    "for epoch in range({n}):\n    total = 0.0\n    for inputs, targets in loader_{n}:\n"
    "        optimizer_{n}.zero_grad()\n        loss = loss_fn(model_{n}(inputs), targets)\n"
    "        loss.backward()\n        optimizer_{n}.step()\n        total += loss.item()\n"
    "    print(f'{{epoch}} {{total:.4f}}')",
    "import matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots(1, 2, figsize=(8, {n}))\n"
    "axes[0].plot([row ** 2 for row in range({n})])\naxes[1].hist(table_{n}['ratio'], bins=20)\nplt.show()",
    "with torch.no_grad():\n    right = sum((model_{n}(x).argmax(1) == y).sum().item() for x, y in loader_{n})\n"
    "accuracy_{n} = right / len(table_{n})\naccuracy_{n}",
)


def write_notebooks(folder: Path, cells: int) -> tuple[list[Path], float]:
    """Write notebooks of the given number of code cells; returns their paths and the mean count of lines."""
    shuffler = random.Random(0)
    paths: list[Path] = []
    lines = 0
    for number in range(COUNT):
        sources = [CELLS[i % len(CELLS)].format(n=shuffler.randrange(10**6)) for i in range(cells)]
        lines += sum(source.count("\n") + 1 for source in sources)
        content = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "metadata": {},
                    "source": source.splitlines(keepends=True),
                    "outputs": [],
                    "execution_count": None,
                }
                for i, source in enumerate(sources)
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        paths.append(folder / f"{cells}-{number}.ipynb")
        paths[-1].write_text(json.dumps(content), encoding="utf-8")
    return paths, lines / COUNT


def measure(paths: list[Path]) -> tuple[float, float]:
    """CPU seconds for each notebook: to read and parse alone, and to read, parse and lint."""
    parse_cell.cache_clear()
    start = time.process_time()
    for path in paths:
        for cell in read_notebook(path).code_cells:
            parse_cell(cell.source)
    parsed = time.process_time() - start
    parse_cell.cache_clear()
    start = time.process_time()
    for path in paths:
        lint_notebook(read_notebook(path))
    return parsed / len(paths), (time.process_time() - start) / len(paths)


def main() -> None:
    """Print the table."""
    print(
        f"Python {sys.version.split()[0]}, {len(all_rules())} rules, {COUNT} notebooks each, CPU time of one core"
    )
    print(f"{'code cells':>10} {'lines':>6} {'parse ms':>9} {'lint ms':>8} {'ratio':>6} {'notebooks/s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for cells in (10, 20, 40):
            paths, lines = write_notebooks(Path(folder), cells)
            measure(paths[:5])
            parse, lint = measure(paths)
            times = f"{parse * 1e3:>9.2f} {lint * 1e3:>8.2f} {lint / parse:>6.1f} {1 / lint:>12.0f}"
            print(f"{cells:>10} {lines:>6.0f} {times}")


if __name__ == "__main__":
    main()
