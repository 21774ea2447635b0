"""Mutated notebooks: whatever is done to a file, lint ends with findings and never with a traceback.

``CLUSTERBRIDGE_MUTATIONS`` sets how many notebooks are made.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lint_kit import split_cells

from jupyter_clusterbridge.app.lint import STANDARD_INPUT, LintOptions, lint_paths
from jupyter_clusterbridge.lint.fixing import fix_source
from jupyter_clusterbridge.lint.registry import all_rules
from jupyter_clusterbridge.lint.rule import MARK, page_of
from jupyter_clusterbridge.lint.sources.reading import source_of
from jupyter_clusterbridge.model.errors import ClusterBridgeError

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("CLUSTERBRIDGE_MUTATIONS", "2000"))
EXAMPLES = [
    MARK.sub("", "".join(text for _, text in page_of(rule).examples(section)))
    for rule in all_rules()
    for section in ("Bad example", "Good example")
]
SOURCES = [cell for example in EXAMPLES for cell in split_cells(example)]

FRAGMENTS = [
    *("(", ")", "[", "]", "{", "}", "'", '"', '"""', "\\", "\n", "\n\n    ", "\t", ":", "=", ",", ".", "*", "**"),
    *(
        "%",
        "%%",
        "%%bash\n",
        "%time ",
        "!",
        "!!",
        "?",
        "??",
        "\r",
        "\r\n",
        "\f",
        "\0",
        "\ud800",
        "é",
        "😀",
        "\u2028",
    ),
    *("if False:\n    ", "while True:\n", "for x in y:\n", "def f(", "class A:", "lambda: ", "async ", "await "),
    *(
        "import ",
        "from . import *\n",
        "from x import (",
        "global x\n",
        "del x\n",
        "x: int = ",
        "match x:\n case 1:",
    ),
    *(
        "try:\n",
        "except:\n",
        "with a as b:\n",
        "return ",
        "yield ",
        "f'{x!r:>{y}}'",
        ":= ",
        "@d\n",
        ">>> ",
        "In [1]: ",
    ),
    *(
        "# clusterbridge: ignore[",
        "# clusterbridge: ignore-file[CB]",
        "(" * 300,
        "not " * 500,
        "x" * 5000,
        "0x",
        "1e999",
    ),
]
VALUES: list[object] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    ["a", 1, None],
    [["x"]],
    {"source": "x"},
    "code",
    "\ud800",
]

Step = tuple[str, int, int, int]


def notebook(choice: list[int]) -> dict[str, object]:
    cells = [
        {
            "cell_type": "code" if number % 7 else "markdown",
            "id": f"c{index}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": SOURCES[number % len(SOURCES)].splitlines(keepends=bool(number % 2)),
        }
        for index, number in enumerate(choice)
    ]
    return {"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


def mutate_source(book: dict[str, object], place: int, size: int, what: int) -> None:
    """Insert into, cut out of or double a part of one cell's source."""
    cells = book.get("cells")
    cell = cells[place % len(cells)] if isinstance(cells, list) and cells else None
    if not isinstance(cell, dict) or not isinstance(cell.get("source"), (str, list)):
        return
    source = "".join(map(str, cell["source"]))
    at = place % (len(source) + 1)
    end = min(len(source), at + size % 40)
    part = [FRAGMENTS[what % len(FRAGMENTS)], "", source[at:end] * 2][size % 3]
    cell["source"] = source[:at] + part + source[at if size % 3 == 0 else end :]


def mutate_json(book: dict[str, object], place: int, size: int, what: int) -> None:
    """Replace, take away or repeat a value somewhere in the tree."""
    holder: object = book
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))  # type: ignore[arg-type]
        if not keys:
            return
        key = keys[place % len(keys)]
        inner = holder[key]  # type: ignore[index]
        place //= len(keys) or 1
        if not isinstance(inner, (dict, list)) or not inner or size % 4 == 0:
            break
        holder = inner
    if what % 3 == 0:
        del holder[key]  # type: ignore[attr-defined]
    elif what % 3 == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(inner))
    else:
        holder[key] = copy.deepcopy(VALUES[what % len(VALUES)])  # type: ignore[index]


def mutate_bytes(content: bytes, place: int, size: int, what: int) -> bytes:
    """Cut off, cut out of or change bytes of the file."""
    at = place % (len(content) + 1)
    return [
        content[:at],
        content[:at] + content[at + size % 50 :],
        content[:at] + bytes([what % 256]) + content[at + 1 :],
    ][size % 3]


MUTATIONS: dict[str, Callable[[dict[str, object], int, int, int], None]] = {
    "source": mutate_source,
    "json": mutate_json,
}
numbers = st.integers(0, 10**6)
steps = st.lists(st.tuples(st.sampled_from(["source", "source", "json"]), numbers, numbers, numbers), max_size=6)


@settings(
    max_examples=COUNT,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(numbers, min_size=1, max_size=6), steps, st.none() | st.tuples(numbers, numbers, numbers))
def test_no_mutation_of_a_notebook_ends_lint(
    choice: list[int], changes: list[Step], cut: tuple[int, int, int] | None
) -> None:
    book = notebook(choice)
    for name, *where in changes:
        MUTATIONS[name](book, *where)
    content = json.dumps(book, indent=choice[0] % 3 or None).encode()
    if cut is not None:
        content = mutate_bytes(content, *cut)
    options = LintOptions(stdin=content, stdin_name=Path("mutated.ipynb"), file_lines=True)
    findings = lint_paths([STANDARD_INPUT], options).report.findings
    assert all(finding.line is None or finding.line >= 1 for finding in findings)
    if any(finding.fix is not None for finding in findings):
        fix_source(source_of(content, options.stdin_name), all_rules())


@settings(max_examples=max(COUNT // 5, 1), deadline=None, database=None)
@given(st.lists(numbers, min_size=1, max_size=4), st.lists(st.tuples(numbers, numbers, numbers), max_size=4))
def test_no_mutation_of_a_script_ends_lint(choice: list[int], cuts: list[tuple[int, int, int]]) -> None:
    content = "\n# %%\n".join(SOURCES[number % len(SOURCES)] for number in choice).encode()
    for cut in cuts:
        content = mutate_bytes(content, *cut)
    options = LintOptions(stdin=content, stdin_name=Path("mutated.py"))
    if any(finding.fix is not None for finding in lint_paths([STANDARD_INPUT], options).report.findings):
        fix_source(source_of(content, options.stdin_name), all_rules())


def test_the_mutations_leave_notebooks_that_are_read() -> None:
    """Otherwise the tests above would only meet the reader's refusals."""
    read = 0
    for number in range(50):
        book = notebook([number, number + 1])
        mutate_source(book, number * 7919, number * 31, number)
        mutate_json(book, number * 104729, number, number)
        try:
            source_of(json.dumps(book).encode(), Path("m.ipynb"))
            read += 1
        except ClusterBridgeError:
            pass
    assert read >= 20
