"""``%clusterbridge`` in a real kernel: it answers, exports, and turns every mistake into a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from live import LiveNotebook
from nbformat import v4


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveNotebook]:
    """A notebook that seeds, draws and logs a metric, run from top to bottom."""
    path = tmp_path_factory.mktemp("magic") / "notebook.ipynb"
    sources = [
        "%load_ext clusterbridge",
        "import random\nimport clusterbridge as cb\nrandom.seed(0)",
        "value = random.random()\ncb.metric('value', value)",
    ]
    cells = [v4.new_code_cell(source, id=f"c{index}") for index, source in enumerate(sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    with LiveNotebook(path) as notebook:
        notebook.run_all()
        yield notebook


def test_status_says_identity_what_was_recorded_and_what_is_unforgivable(live: LiveNotebook) -> None:
    text = live.execute("%clusterbridge status")
    assert text.startswith("identity  code ")
    assert "3 of 3 cells" in text
    assert "1 metric value," in text
    assert "What a cluster will not forgive:" in text


def test_the_bare_magic_is_status(live: LiveNotebook) -> None:
    assert live.execute("%clusterbridge").startswith("identity")


def test_export_writes_a_bundle_with_the_session_as_baseline(live: LiveNotebook) -> None:
    text = live.execute("%clusterbridge export --to docker -o out/")
    folder = live.path.parent / "out"
    manifest = json.loads((folder / "bundle.json").read_text())
    assert f"bundle    {folder}" in text
    assert manifest["has_baseline"]
    assert manifest["engines"] == ["docker"]
    assert "baseline  recorded" in text


def test_status_lists_what_was_done_by_hand_with_the_gravest_first(live: LiveNotebook) -> None:
    text = live.execute("1 / 0\n") + live.execute("%clusterbridge status")
    assert "What was done by hand and a job will not do" not in text  # the console is not the notebook
    live.run("c2")
    text = live.execute("%clusterbridge status")
    done = text.partition("the gravest first:\n")[2].partition("What a cluster will not forgive:")[0]
    assert done.startswith("  rerun: cell 2 ran 2 times and moved the random stream `python` on each time\n")


def test_check_names_a_rerun(live: LiveNotebook) -> None:
    live.run("c2")
    assert "rerun:" in live.execute("%clusterbridge check")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "invalid choice"),
        ("export", "required: -o/--output"),
        ("export -o out2 -p lr", "is not NAME=VALUE"),
        ("export -o out2 -p lr=1", "no cell tagged"),
        ("compare nowhere nowhere", "there is no such folder"),
        ("export -o 'out", "No closing quotation"),
        ("--help", "usage: %clusterbridge"),
    ],
)
def test_a_mistake_is_a_message_and_no_traceback(live: LiveNotebook, line: str, words: str) -> None:
    text = live.execute(f"%clusterbridge {line}")
    assert words in text
    assert "Traceback" not in text
    assert not (Path(live.path).parent / "out2").exists()


def test_lint_reads_the_saved_notebook_and_takes_a_choice_of_rules(live: LiveNotebook) -> None:
    assert "finding" in live.execute("%clusterbridge lint").lower()
    assert live.execute("%clusterbridge lint --select CB404").strip() == "No findings."
    assert "no rule has the code 'CB9'" in live.execute("%clusterbridge lint --ignore CB9")


def test_unloading_takes_the_magic_away_and_reloading_brings_it_back_once(live: LiveNotebook) -> None:
    assert "not found" in live.execute("%unload_ext clusterbridge\n%clusterbridge status")
    assert live.execute("%load_ext clusterbridge\n%load_ext clusterbridge\n%clusterbridge").count("identity") == 1
