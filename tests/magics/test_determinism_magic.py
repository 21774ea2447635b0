"""``%clusterbridge determinism`` in a real kernel: torch's alerts become findings, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from live import LiveNotebook
from nbformat import v4

pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch
SOURCES = [
    "%load_ext clusterbridge",
    "import torch\nfrom torch import nn",
    "pool, back = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)\n"
    "print(back(*pool(torch.ones(1, 1, 4, 4))).sum().item())",
]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveNotebook]:
    """A notebook whose last cell runs an operation that is nondeterministic on a CPU too."""
    path: Path = tmp_path_factory.mktemp("determinism") / "notebook.ipynb"
    cells = [v4.new_code_cell(source, id=f"c{index}") for index, source in enumerate(SOURCES)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    with LiveNotebook(path) as notebook:
        yield notebook


def test_alerts_become_findings_at_their_line_and_are_not_printed(live: LiveNotebook) -> None:
    live.run("c0")
    assert "import torch first" in live.execute("%clusterbridge determinism on")
    live.run("c1")
    assert "from the next cell on" in live.execute("%clusterbridge determinism on")
    assert live.run("c2").split() == ["4.0"]
    report = live.execute("%clusterbridge check")
    assert "seen at run time" in report
    assert "max_unpooling2d_forward_out" in report
    assert "as your code has set it" in live.execute("%clusterbridge determinism off")
    assert live.execute("torch.get_deterministic_debug_mode()") == "0"


def test_unloading_ends_the_mode(live: LiveNotebook) -> None:
    live.execute("%clusterbridge determinism on")
    live.execute("%unload_ext clusterbridge")
    assert live.execute("torch.get_deterministic_debug_mode()") == "0"
    assert "nothing is recorded" in live.execute(
        "from jupyter_clusterbridge.app.determinism import switch_determinism\n"
        "switch_determinism(get_ipython(), True)"
    )
