"""From a node to an edit: columns in characters, lines that magics changed, and changes that cannot be made."""

from __future__ import annotations

import ast

import pytest
from lint_kit import notebook_of

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.fixes import (
    add_argument,
    apply_edits,
    replace,
    replace_text,
    without_overlap,
    wrap,
)
from jupyter_clusterbridge.model.findings import Edit, Fix


def cell_of(source: str) -> CellContext:
    return NotebookContext.of(notebook_of(source)).cells[0]


def call_in(cell: CellContext) -> ast.Call:
    assert cell.tree is not None
    return next(
        n for n in ast.walk(cell.tree) if isinstance(n, ast.Call) and ast.unparse(n.func) in ("f", "os.listdir")
    )


def made(source: str, fix: Fix | None) -> str | None:
    return None if fix is None else apply_edits(source, fix.edits)


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("x = f(1)", "x = sorted(f(1))"),
        ("%matplotlib inline\nx = f(1)", "%matplotlib inline\nx = sorted(f(1))"),
        ("!ls\nx = f(\n    1,\n)  # here", "!ls\nx = sorted(f(\n    1,\n))  # here"),
        ("é = 'äöü' + f('ß')", "é = 'äöü' + sorted(f('ß'))"),
        ("s = '😀'; x = f('😀')", "s = '😀'; x = sorted(f('😀'))"),
        ("%time x = f(1)", "%time x = sorted(f(1))"),
        ("%%time\nx = f(1)", "%%time\nx = sorted(f(1))"),
        (">>> x = f(1)", ">>> x = sorted(f(1))"),
        ("  x = f(1)\n  y = 2", "  x = sorted(f(1))\n  y = 2"),
        ("y = 1\r\nx = f(1)\r\n", "y = 1\r\nx = sorted(f(1))\r\n"),
        ("x = (f(1))", "x = (sorted(f(1)))"),
    ],
)
def test_an_expression_is_wrapped_where_it_stands(source: str, fixed: str) -> None:
    cell = cell_of(source)
    assert made(source, wrap(call_in(cell), "sorted(", ")", cell, "Sort")) == fixed


@pytest.mark.parametrize("source", ["y = 1\rx = f(1)", "y = 1\n\fx = f(1)"])
def test_no_fix_where_lines_cannot_be_told(source: str) -> None:
    cell = cell_of(source)
    assert wrap(call_in(cell), "sorted(", ")", cell, "Sort") is None


def test_an_expression_is_replaced_over_several_lines() -> None:
    source = "x = [f(1,\n  2), 3]"
    cell = cell_of(source)
    assert made(source, replace(call_in(cell), "g()", cell, "m")) == "x = [g(), 3]"


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("from tqdm.notebook import tqdm", "from tqdm.auto import tqdm"),
        ("import tqdm.notebook as t", "import tqdm.auto as t"),
        ("x = 1; import tqdm.notebook", "x = 1; import tqdm.auto"),
        ("import tqdm.notebook, tqdm.notebook", None),
        ("import tqdm.notebooks", None),
        ("import my.tqdm.notebook", None),
    ],
)
def test_a_text_is_replaced_where_it_stands_once(source: str, fixed: str | None) -> None:
    cell = cell_of(source)
    assert cell.tree is not None
    assert made(source, replace_text(cell.tree.body[-1], "tqdm.notebook", "tqdm.auto", cell, "m")) == fixed


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("f()", "f(k=1)"),
        ("f( )", "f( k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a, )", "f(a, k=1 )"),
        ("f(\n    a,\n    b=2,\n)", "f(\n    a,\n    b=2, k=1\n)"),
        ("f((a))", "f((a), k=1)"),
        ("f(b=(1), *a)", "f(b=(1), *a, k=1)"),
        ("f(x for x in y)", None),
        ("f(\n    a  # why, so\n)", None),
        ("é = f('ü')", "é = f('ü', k=1)"),
    ],
)
def test_an_argument_is_added_at_the_end(source: str, fixed: str | None) -> None:
    cell = cell_of(source)
    assert made(source, add_argument(call_in(cell), "k=1", cell, "m")) == fixed


def test_of_two_fixes_that_touch_the_first_stays() -> None:
    outer = Fix("outer", (Edit(1, 0, 1, 0, "a("), Edit(1, 9, 1, 9, ")")))
    inner = Fix("inner", (Edit(1, 3, 1, 4, "x"),))
    later = Fix("later", (Edit(2, 0, 2, 1, "x"),))
    assert without_overlap([outer, inner, later]) == [outer, later]


def test_edits_at_one_place_keep_their_order() -> None:
    assert apply_edits("ab", [Edit(1, 1, 1, 1, "1"), Edit(1, 1, 1, 1, "2")]) == "a12b"
