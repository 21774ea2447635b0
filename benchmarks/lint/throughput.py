"""How many notebooks lint reads and checks in a second on one core, and what memory it keeps.

Run: ``python benchmarks/lint/throughput.py [FOLDER]``. Prints tables; the goal is 200 notebooks of the usual size
a second, and memory that does not grow with the number of notebooks. Each notebook is another file with other
names, so that no cache of a cell helps. With a folder, its notebooks are measured too, and their size is told.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from jupyter_clusterbridge.app.lint import LintOptions, lint_paths
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.notebook import read_notebook
from jupyter_clusterbridge.runtime.source import parse_once

COUNT = 200
CELLS = (
    "%matplotlib inline\nimport os\nimport random\n\nimport numpy as np\nimport pandas as pd\nimport torch\n"
    "from torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset",
    "SEED_{n} = {n}\nrandom.seed(SEED_{n})\nnp.random.seed(SEED_{n})\ntorch.manual_seed(SEED_{n})",
    "# the raw table has one row for each visit\ntable_{n} = pd.read_csv('data/train_{n}.csv')\n"
    "table_{n} = table_{n}.dropna()\ntable_{n}['ratio'] = table_{n}['a'] / table_{n}['b']\n"
    "table_{n} = table_{n}[table_{n}['ratio'] < {n}]\n"
    "by_group_{n} = table_{n}.groupby('group')['ratio'].agg(['mean', 'std', 'count']).reset_index()\n"
    "by_group_{n}.columns = ['group', 'mean_{n}', 'deviation_{n}', 'visits_{n}']\ntable_{n}.describe()",
    "files_{n} = sorted(os.listdir('images_{n}'))\nlabels_{n} = {{name: i for i, name in enumerate(files_{n})}}\n"
    "train_files_{n}, test_files_{n} = files_{n}[:-{n}], files_{n}[-{n}:]\n"
    "assert not set(train_files_{n}) & set(test_files_{n}), 'a file is in both parts'\n"
    "print(f'{{len(train_files_{n})}} files to train on, {{len(test_files_{n})}} to test on')",
    "def load_{n}(path, size=({n}, 64)):\n    '''Load one image.'''\n    data = np.load(path)\n"
    "    if data.shape != size:\n        raise ValueError(f'{{path}}: {{data.shape}}')\n"
    "    return (data - data.mean()) / (data.std() + 1e-6)\n\n\n"
    "def scaled_{n}(values, low=0.0, high={n}):\n    span = values.max() - values.min()\n"
    "    if span == 0:\n        return np.full_like(values, low)\n"
    "    return low + (values - values.min()) * (high - low) / span",
    "class Net{n}(nn.Module):\n    def __init__(self, width=128):\n        super().__init__()\n"
    "        self.body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))\n"
    "        self.drop = nn.Dropout(0.1)\n        self.head = nn.Linear(10, {n})\n\n"
    "    def forward(self, x):\n        x = self.drop(self.body(x))\n        return self.head(x)",
    "model_{n} = Net{n}()\noptimizer_{n} = torch.optim.Adam(model_{n}.parameters(), lr=1e-{n})\n"
    "loss_fn = nn.CrossEntropyLoss()\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    "model_{n} = model_{n}.to(device)\n"
    "scheduler_{n} = torch.optim.lr_scheduler.StepLR(optimizer_{n}, step_size={n})\n"
    "count_{n} = sum(parameter.numel() for parameter in model_{n}.parameters())\n"
    "print(f'the model has {{count_{n}:,}} parameters')",
    "history_{n} = []\nfor epoch in range({n}):\n    total = 0.0\n    for inputs, targets in loader_{n}:\n"
    "        inputs, targets = inputs.to(device), targets.to(device)\n"
    "        optimizer_{n}.zero_grad()\n        loss = loss_fn(model_{n}(inputs), targets)\n"
    "        loss.backward()\n        optimizer_{n}.step()\n        total += loss.item()\n"
    "    history_{n}.append(total / len(loader_{n}))\n    print(f'{{epoch}} {{total:.4f}}')",
    "import matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots(1, 2, figsize=(8, {n}))\n"
    "axes[0].plot(history_{n}, label='train')\naxes[0].set_xlabel('epoch')\naxes[0].set_ylabel('loss')\n"
    "axes[0].legend()\naxes[1].hist(table_{n}['ratio'], bins=20)\naxes[1].set_title('ratio of {n}')\n"
    "figure.tight_layout()\nplt.show()",
    "model_{n}.eval()\nwith torch.no_grad():\n    right = 0\n    for x, y in loader_{n}:\n"
    "        predicted = model_{n}(x.to(device)).argmax(1).cpu()\n        right += (predicted == y).sum().item()\n"
    "accuracy_{n} = right / len(table_{n})\naccuracy_{n}",
)


def write_notebooks(folder: Path, cells: int) -> tuple[list[Path], float, float]:
    """Write notebooks of the given number of code cells; also returns the mean counts of lines and characters."""
    shuffler = random.Random(0)
    paths: list[Path] = []
    lines = characters = 0
    for number in range(COUNT):
        sources = [CELLS[i % len(CELLS)].format(n=shuffler.randrange(10**6)) for i in range(cells)]
        lines += sum(source.count("\n") + 1 for source in sources)
        characters += sum(map(len, sources))
        content = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "metadata": {},
                    "source": source.splitlines(keepends=True),
                    "outputs": [{"output_type": "stream", "name": "stdout", "text": [f"{i}\n"] * 20}],
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
    return paths, lines / COUNT, characters / COUNT


def measure(paths: list[Path]) -> tuple[float, float]:
    """CPU seconds for each notebook: to read and parse alone, and to read, parse and lint."""
    start = time.process_time()
    for path in paths:
        for cell in read_notebook(path).code_cells:
            parse_once(cell.source)
    parsed = time.process_time() - start
    start = time.process_time()
    lint_paths(paths, LintOptions())
    return parsed / len(paths), (time.process_time() - start) / len(paths)


def print_speed(folder: Path) -> None:
    """The table of notebooks that are made here."""
    names = ("code cells", "lines", "chars", "parse ms", "lint ms", "ratio", "notebooks/s")
    print(" ".join(f"{name:>10}" for name in names))
    for cells in (10, 17, 33):
        paths, lines, characters = write_notebooks(folder, cells)
        # the best of three, since whatever else the machine does only ever makes it slower
        parse, lint = (min(times) for times in zip(*(measure(paths) for _ in range(3)), strict=True))
        times = f"{parse * 1e3:>10.2f} {lint * 1e3:>10.2f} {lint / parse:>10.1f} {1 / lint:>11.0f}"
        print(f"{cells:>10} {lines:>10.0f} {characters:>10.0f} {times}")


def print_memory(folder: Path) -> None:
    """What the process holds after more and more notebooks."""
    paths = sorted(folder.glob("17-*.ipynb"))
    process = psutil.Process()
    print(f"\n{'notebooks':>10} {'memory MB':>10}")
    done = 0
    for target in (200, 1000, 2000):
        while done < target:
            lint_paths(paths, LintOptions())
            done += len(paths)
        print(f"{done:>10} {process.memory_info().rss / 2**20:>10.1f}")


def print_folder(folder: Path) -> None:
    """Sizes and speed of the notebooks in a folder."""
    sizes: list[tuple[int, int, int]] = []
    paths: list[Path] = []
    for path in sorted(folder.rglob("*.ipynb")):
        try:
            sources = [cell.source for cell in read_notebook(path).code_cells]
        except ClusterBridgeError:
            continue
        paths.append(path)
        sizes.append((len(sources), sum(s.count("\n") + 1 for s in sources), sum(map(len, sources))))
    cells, lines, characters = (statistics.median(column) for column in zip(*sizes, strict=True))
    times: list[float] = []
    for path in paths:
        start = time.process_time()
        lint_paths([path], LintOptions())
        times.append(time.process_time() - start)
    size = f"{cells:.0f} code cells, {lines:.0f} lines, {characters:.0f} chars"
    print(f"\n{folder}: {len(paths)} notebooks; median {size}")
    print(f"lint: median {statistics.median(times) * 1e3:.2f} ms, mean {statistics.mean(times) * 1e3:.2f} ms")
    print(
        f"notebooks/s: {1 / statistics.median(times):.0f} at the median, {1 / statistics.mean(times):.0f} over all"
    )


def main() -> None:
    """Print the tables."""
    print(
        f"Python {sys.version.split()[0]}, {len(all_rules())} rules, {COUNT} notebooks each, CPU time of one core"
    )
    with tempfile.TemporaryDirectory() as folder:
        print_speed(Path(folder))
        print_memory(Path(folder))
    for name in sys.argv[1:]:
        print_folder(Path(name))


if __name__ == "__main__":
    main()
