"""Finding rules, silencing lines, and notebooks that are hard to read."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest
from lint_kit import Lint, notebook_of

from jupyter_clusterbridge.app.lint import lint_notebooks
from jupyter_clusterbridge.lint import rules as rules_package
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.model.findings import Severity


def codes(findings: object) -> list[str]:
    return [finding.code for finding in findings]  # type: ignore[attr-defined]


def write(path: Path, *sources: str, **changes: object) -> Path:
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": s, "outputs": [], "execution_count": None}
        for i, s in enumerate(sources)
    ]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}
    path.write_text(json.dumps(content))
    return path


def test_a_file_in_the_folder_is_all_that_registers_a_rule() -> None:
    files = {path.stem for path in Path(rules_package.__path__[0]).glob("cb*.py")}
    assert {rule.__module__.rpartition(".")[2] for rule in all_rules()} == files


def test_rules_come_by_code() -> None:
    assert codes(all_rules()) == sorted(codes(all_rules()))


def test_the_example_notebook_has_no_warning_and_no_error(repository: Path) -> None:
    report = lint_notebooks([repository / "examples" / "train_classifier.ipynb"])
    assert [finding for finding in report.findings if finding.severity is not Severity.INFO] == []


def test_a_comment_silences_several_codes(lint: Lint) -> None:
    line = "!pip install x --target ~/x || true"
    assert set(codes(lint(line))) == {"CB401", "CB503"}
    assert codes(lint(f"{line}  # clusterbridge: ignore[CB401, CB503]")) == []
    assert codes(lint(f"{line}  # clusterbridge: ignore[CB401]")) == ["CB503"]


def test_a_comment_with_another_code_silences_nothing(lint: Lint) -> None:
    assert codes(lint("name = input()  # clusterbridge: ignore[CB401]")) == ["CB501"]


def test_a_comment_on_the_last_line_of_a_call_silences_it(lint: Lint) -> None:
    text = "import numpy as np\nnp.random.shuffle(\n    [1, 2],\n)  # clusterbridge: ignore[CB101]"
    assert codes(lint(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "s = '# clusterbridge: ignore[CB501]'; input()",
        "input('''\n# clusterbridge: ignore-file[CB501]\n''')",
        "s = f'{1} # clusterbridge: ignore[CB501]'; input()",
        "%matplotlib inline\ns = '# clusterbridge: wrong'; input()",
    ],
)
def test_a_comment_within_a_string_silences_nothing_and_is_not_reported(text: str, lint: Lint) -> None:
    assert codes(lint(text)) == ["CB501"]


@pytest.mark.parametrize(
    "text",
    [
        "!pip install x  # clusterbridge: ignore[CB401]",
        "%pip install x  # clusterbridge: ignore[CB401]",
        "%%bash\npip install x  # clusterbridge: ignore[CB401]",
        "%time input()  # clusterbridge: ignore[CB501]",
        "# Clusterbridge:IGNORE[ cb501 , CB4 ] for now\n# clusterbridge: ignore-file[cb501]\ninput()",
        "  input()  # noqa: S1  # clusterbridge: ignore[CB501] # more",
        "input()  # clusterbridge: ignore[CB501]\r\nx = 1\r",
        "for  # clusterbridge: ignore[CB002]",
        ">>> input()  # clusterbridge: ignore[CB501]",
    ],
)
def test_a_comment_silences_wherever_it_is_one(text: str, lint: Lint) -> None:
    assert codes(lint(text)) == []


def test_silencing_the_first_draw_moves_the_finding_to_the_next(lint: Lint) -> None:
    text = "import random\nrandom.random()  # clusterbridge: ignore[CB101]\nrandom.random()\nrandom.random()"
    assert [(finding.code, finding.line) for finding in lint(text)] == [("CB101", 3)]


def test_imports_are_followed_across_cells_and_under_other_names(lint: Lint) -> None:
    text = "from numpy import random as r\n# %%\nr.shuffle([1])\n# %%\nimport os as o\n# %%\nx = o.listdir()"
    assert [(f.code, f.cell_index) for f in lint(text)] == [("CB101", 1), ("CB301", 3)]


def test_a_name_of_the_notebook_hides_a_module_and_a_builtin(lint: Lint) -> None:
    text = "import random\nrandom = object()\nrandom.shuffle([1])\ndef input(t):\n    return t\n# %%\ninput('a')"
    assert codes(lint(text)) == []


def test_a_parameter_hides_a_module(lint: Lint) -> None:
    assert codes(lint("import random\n\ndef draw(random):\n    return random.random()")) == []


def test_cells_around_a_syntax_error_are_still_linted(lint: Lint) -> None:
    found = lint("a = input()\n# %%\nfor\n# %%\nb = input()")
    assert [(f.code, f.cell_index, f.line) for f in found] == [("CB501", 0, 1), ("CB002", 1, 1), ("CB501", 2, 1)]


def test_lines_and_cells_count_as_the_contract_says(tmp_path: Path) -> None:
    path = write(tmp_path / "n.ipynb", "x = 1", "\n\nname = input()")
    (finding,) = lint_notebooks([path]).findings
    assert (finding.path, finding.cell_id, finding.cell_index, finding.line) == (str(path), "c1", 1, 3)


def test_markdown_cells_count_in_the_index_and_are_not_linted(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": "input()"},
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {},
            "source": "input()",
            "outputs": [],
            "execution_count": None,
        },
    ]
    (finding,) = lint_notebooks([write(tmp_path / "n.ipynb", cells=cells)]).findings
    assert (finding.cell_id, finding.cell_index) == ("c", 1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not valid JSON"),
        (b"{'a': 1}", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[]", "not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": 5, "cells": []}', "format 5"),
        (b'{"nbformat": 4, "cells": [{"source": "x"}]}', "no cell_type"),
        (b"[" * 100_000, "not valid JSON"),
    ],
    ids=["empty", "no-json", "binary", "list", "old", "new", "cell", "deep"],
)
def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_linted(
    content: bytes, words: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.ipynb"
    bad.write_bytes(content)
    good = write(tmp_path / "good.ipynb", "input()")
    first, second = lint_notebooks([bad, good]).findings
    assert (first.code, first.path, first.cell_id, first.cell_index) == ("CB001", str(bad), None, None)
    assert first.severity is Severity.ERROR
    assert words in first.message
    assert first.remedy
    assert (second.code, second.path) == ("CB501", str(good))


def test_a_missing_file_and_a_folder_are_findings(tmp_path: Path) -> None:
    report = lint_notebooks([tmp_path / "none.ipynb", tmp_path])
    assert codes(report.findings) == ["CB001", "CB001"]
    assert report.has_errors


def test_an_empty_notebook_has_no_findings(tmp_path: Path) -> None:
    assert lint_notebooks([write(tmp_path / "n.ipynb")]).findings == ()
    assert lint_notebooks([write(tmp_path / "m.ipynb", "", "\n\n", "# a comment")]).findings == ()


def test_findings_come_in_the_order_of_the_file(lint: Lint) -> None:
    found = lint("import os\nb = os.listdir()\na = input()\n# %%\n!pip install x\nc = open('/home/a/b')")
    assert [(f.cell_index, f.line) for f in found] == [(0, 2), (0, 3), (1, 1), (1, 2)]


def test_linting_twice_gives_the_same() -> None:
    notebook = notebook_of("import random\nx = random.random()\nprint(y)\n# %%\ny = 1\n!pip install x")
    assert lint_notebook(notebook) == lint_notebook(notebook)


@pytest.mark.parametrize(
    "source",
    ["x = " + "+".join(["1"] * 3000), "f" + "()" * 300, "x" + ".a" * 400 + ".cuda()", "lambda: " * 50 + "input()"],
    ids=["sum", "calls", "attributes", "lambdas"],
)
def test_deep_expressions_end_no_run(source: str, lint: Lint) -> None:
    lint(source)


def test_linting_imports_none_of_the_libraries_that_it_knows(repository: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from jupyter_clusterbridge.app.lint import lint_notebooks;"
        "lint_notebooks([Path('examples/train_classifier.ipynb')]);"
        "print([m for m in ('torch', 'numpy', 'sklearn', 'IPython') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_all_memory_of_a_notebook_is_free_without_a_search_for_garbage() -> None:
    text = "import random\nx = random.random()\ndef f():\n    return y\nclass A:\n    z = [f for f in x]\n"
    notebook = notebook_of(f"{text}# %%\n{text}for\n# %%\nf(")
    lint_notebook(notebook)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            lint_notebook(notebook)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_notebook_in_another_language_is_told_and_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "r.ipynb"
    path.write_text('{"nbformat": 4, "cells": [], "metadata": {"language_info": {"name": "R"}}}')
    (finding,) = lint_notebooks([path]).findings
    assert (finding.code, finding.severity) == ("CB001", Severity.INFO)
    assert "R, not in Python" in finding.message
