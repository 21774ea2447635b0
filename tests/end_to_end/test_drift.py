"""Known drifts, each made for real: the verdict names the link that was changed."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from end_to_end_helpers import Command, last_line, write_notebook

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

PARAMETERS = "SEED = 0\nAUGMENT = False"
IMPORTS = """\
import os
import numpy as np
import torch
import clusterbridge as cb
from torch.utils.data import DataLoader, Dataset"""
SEEDING = "torch.manual_seed(SEED)\nnp.random.seed(SEED)"
DATA = """\
table = np.loadtxt("data/train.csv", delimiter=",", dtype=np.float32)

class Rows(Dataset):
    def __len__(self):
        return len(table)

    def __getitem__(self, index):
        row = torch.tensor(table[index])
        if AUGMENT:
            row = row + float(np.random.default_rng().normal())
        return row

loader = DataLoader(Rows(), batch_size=8, shuffle=True, num_workers=2 if AUGMENT else 0)"""
TRAINING = """\
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for batch in loader:
        optimizer.zero_grad()
        loss = (model(batch[:, :3]).squeeze() - batch[:, 3]).pow(2).mean()
        loss.backward()
        optimizer.step()
cb.metric("loss", loss.item())"""
CELLS = [
    ("parameters", PARAMETERS),
    ("imports", IMPORTS),
    ("seeding", SEEDING),
    ("data", DATA),
    ("training", TRAINING),
]


@dataclasses.dataclass
class Variant:
    """A notebook folder, its bundle and its run."""

    folder: Path
    bundle: Path
    run: Path


Make = Callable[..., Variant]


def write_table(folder: Path, shift: float = 0.0) -> None:
    """Thirty-two rows of four numbers."""
    rows = [f"{i * 0.1:.3f},{(i * 7) % 5},{i % 3 + shift},{i * 0.2:.3f}" for i in range(32)]
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "train.csv").write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, clusterbridge: Command) -> Make:
    """Write a notebook with changes, export it and run the bundle on the local engine."""

    def build(
        name: str, *, changes: dict[str, str] | None = None, shift: float = 0.0, options: tuple[str, ...] = ()
    ) -> Variant:
        folder = tmp_path_factory.mktemp(name)
        write_table(folder, shift)
        cells = [(cell_id, (changes or {}).get(cell_id, source)) for cell_id, source in CELLS]
        notebook = write_notebook(folder / "notebook.ipynb", cells)
        variant = Variant(folder, folder / "bundle", folder / "run")
        exported = clusterbridge(
            "export", notebook, "-o", variant.bundle, "--python", sys.executable, "--format", "json", *options
        )
        assert exported.exit_code == 0, last_line(exported)
        ran = clusterbridge("run", variant.bundle, "--out", variant.run, "--format", "json")
        assert ran.exit_code == 0, last_line(ran)
        return variant

    return build


@pytest.fixture(scope="module")
def base(make: Make) -> Variant:
    """The model that was tested."""
    return make("base")


def compare(clusterbridge: Command, one: Path, two: Path) -> Any:
    result = clusterbridge("compare", one, two, "--format", "json")
    document = result.json
    assert result.exit_code == {"same": 0, "different": 3, "cannot_tell": 4}[document["verdict"]]
    return document


def first_link(document: Any) -> str | None:
    first = document["first_difference"]
    return None if first is None else str(first["link"])


def test_a_second_run_of_the_bundle_is_the_same_model(base: Variant, clusterbridge: Command) -> None:
    again = base.folder / "again"
    ran = clusterbridge("run", base.bundle, "--out", again)
    assert ran.exit_code == 0, last_line(ran)
    document = compare(clusterbridge, base.run, again)
    assert document["verdict"] == "same", document
    assert "row" in document["summary"]


def test_another_data_file_is_named(base: Variant, make: Make, clusterbridge: Command) -> None:
    document = compare(clusterbridge, base.run, make("data", shift=0.5).run)
    assert (document["verdict"], first_link(document)) == ("different", "data_file")
    assert "data/train.csv" in document["first_difference"]["where"]


def test_another_seed_given_as_parameter_is_named(base: Variant, make: Make, clusterbridge: Command) -> None:
    document = compare(clusterbridge, base.run, make("seed", options=("-p", "SEED=1")).run)
    assert (document["verdict"], first_link(document)) == ("different", "code")
    assert document["first_difference"]["where"] == "parameter SEED"


def test_a_seed_that_nobody_set_is_named_as_the_stream(make: Make, clusterbridge: Command) -> None:
    unseeded = make("unseeded", changes={"seeding": "torch.seed(); None"})
    again = unseeded.folder / "again"
    assert clusterbridge("run", unseeded.bundle, "--out", again).exit_code == 0
    document = compare(clusterbridge, unseeded.run, again)
    assert (document["verdict"], first_link(document)) == ("different", "rng")
    assert "torch" in document["first_difference"]["where"]


def test_unseeded_augmentation_in_workers_is_named_as_batch_content(make: Make, clusterbridge: Command) -> None:
    augmented = make("augmented", options=("-p", "AUGMENT=True"))
    again = augmented.folder / "again"
    assert clusterbridge("run", augmented.bundle, "--out", again).exit_code == 0
    document = compare(clusterbridge, augmented.run, again)
    assert (document["verdict"], first_link(document)) == ("different", "batch_content")
    assert "epoch 0, batch 0" in document["first_difference"]["where"]


def test_another_version_of_one_package_is_named(tmp_path: Path, clusterbridge: Command) -> None:
    notebook = write_notebook(
        tmp_path / "notebook.ipynb", [("one", "import six\nimport clusterbridge as cb\ncb.metric('x', 1.0)")]
    )
    runs = []
    for version in ("1.16.0", "1.17.0"):
        python = environment_with(tmp_path / version, f"six=={version}")
        bundle, run = tmp_path / f"bundle-{version}", tmp_path / f"run-{version}"
        exported = clusterbridge("export", notebook, "-o", bundle, "--python", python)
        assert exported.exit_code == 0, last_line(exported)
        ran = clusterbridge("run", bundle, "--out", run)
        assert ran.exit_code == 0, last_line(ran)
        runs.append(run)
    document = compare(clusterbridge, *runs)
    assert (document["verdict"], first_link(document)) == ("different", "environment")
    assert document["first_difference"]["where"] == "package six"


def environment_with(folder: Path, *requirements: str) -> Path:
    """A small virtual environment with a kernel and some packages."""
    import uv

    uv_bin = uv.find_uv_bin()
    subprocess.run([uv_bin, "venv", "-q", "--no-config", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [uv_bin, "pip", "install", "-q", "--no-config", "--python", python, "ipykernel", *requirements], check=True
    )
    return python


def test_another_number_of_workers_is_named_and_so_is_what_it_did_to_the_batches(
    make: Make, clusterbridge: Command
) -> None:
    changes = {
        "parameters": "SEED = 0\nAUGMENT = True\nWORKERS = 0",
        "data": DATA.replace("np.random.default_rng().normal()", "np.random.normal()").replace(
            "2 if AUGMENT else 0", "WORKERS"
        ),
    }
    alone = make("alone", changes=changes)
    workers = make("workers", changes=changes, options=("-p", "WORKERS=2"))
    document = compare(clusterbridge, alone.run, workers.run)
    assert (document["verdict"], first_link(document)) == ("different", "code")
    assert document["first_difference"]["where"] == "parameter WORKERS"
    followed = [difference["link"] for difference in document["differences"]]
    assert "batch_content" in followed
    assert "index_order" not in followed
