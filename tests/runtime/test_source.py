"""Cells are parsed as IPython would run them, with every line in its place."""

from __future__ import annotations

import ast
import warnings

import pytest

from jupyter_clusterbridge.runtime.source import parse_cell, parse_once

AS_IPYTHON_DOES = [
    "%time x = f()",
    "y = %time f()",
    "%time !ls",
    "x = a \\\n% b",
    "foo(\n%time\n)",
    "%%time\n\n%%capture out\nprint(1)",
    "%%timeit -n 3\nx=1",
    "!ls \\\n -l",
    "if 1:\n    %time x\n    !ls {x}",
    "x = !ls",
    "a, b = !ls",
    "a.b = %pwd",
    "a[0] = !ls",
    "x: int = %pwd",
    "a = b = !ls",
    "?foo",
    "foo.bar??",
    "f(x)?",
    "x = foo?",
    "[1].append?",
    "np.*load?",
    "!ls?",
    "%%foo?",
    "# %matplotlib\nx",
    "# what?\nx",
    "if x: # foo?\n  pass",
    "'''\n%time\n'''",
    "x = '''\n!ls'''",
    "s='''a\n?'''",
    "x = 5 %2",
    "print('a')  ; !ls",
    "!!ls",
    "def f():\n  %time x\n",
    "x = %%y",
    "%%bash\nls -l | grep x",
    "\n\n%%bash\nls -l",
    "s = 'abc\\\n%def'",
    ";ls a b",
    ",f a b",
    "/f a",
    "$ ls",
    "async with a as b:\n  !ls",
    "await foo()",
    "%matplotlib inline # foo",
    ">>> x = 1",
    ">>> for i in x:\n...     print(i)",
    "In [1]: x = 2",
    "%time for i in x: print(i)",
    '!echo "abc \\\ndef\'"\ny = %pwd',
    "x = {\n 'a': 1 %\n 2}",
    "  x = 1\n  y = 2",
    "print(1)?",
    "for",
    "x = (",
    "",
    "\n\n",
]


@pytest.mark.parametrize("source", AS_IPYTHON_DOES)
def test_a_cell_is_python_exactly_when_ipython_says_so(source: str) -> None:
    inputtransformer = pytest.importorskip("IPython.core.inputtransformer2")
    try:
        ast.parse(inputtransformer.TransformerManager().transform_cell(source))
        valid = True
    except SyntaxError:
        valid = False
    assert (parse_cell(source).tree is not None) is valid


@pytest.mark.parametrize("source", AS_IPYTHON_DOES)
def test_the_python_has_as_many_lines_as_the_cell(source: str) -> None:
    assert parse_cell(source).python.count("\n") == source.count("\n")


def test_a_magic_becomes_a_neutral_statement_of_its_line() -> None:
    cell = parse_cell("x = 1\nif x:\n    %cd data\nfiles = !ls\n!touch {x}")
    assert cell.python == "x = 1\nif x:\n    pass\nfiles = None\npass"
    assert [(m.kind, m.name, m.body, m.line, m.target) for m in cell.magics] == [
        ("line", "cd", "data", 3, None),
        ("shell", "", "ls", 4, "files"),
        ("shell", "", "touch {x}", 5, None),
    ]


def test_what_time_runs_stays_a_statement() -> None:
    cell = parse_cell("%time table = load()\nbest = %time search(table)")
    assert cell.python == "table = load()\nbest = search(table)"
    assert [magic.name for magic in cell.magics] == ["time", "time"]


@pytest.mark.parametrize("source", ["%time !ls", "%time -q f()", "%prun -s time f()", "%time a b"])
def test_what_time_runs_is_dropped_when_it_is_not_plain_python(source: str) -> None:
    assert parse_cell(source).python == "pass"


def test_a_continued_command_is_one_magic() -> None:
    cell = parse_cell("!pip install \\\n    numpy \\\n    pandas\nx = 1")
    assert cell.magics[0].body == "pip install numpy pandas"
    assert cell.python == "pass\n\n\nx = 1"


def test_the_body_of_a_python_cell_magic_is_parsed_and_that_of_others_is_not() -> None:
    assert parse_cell("%%time\nx = 1").python == "\nx = 1"
    shell = parse_cell("%%bash\nx = (")
    assert shell.tree is not None
    assert shell.tree.body == []
    assert (shell.magics[0].kind, shell.magics[0].name, shell.magics[0].line) == ("cell", "bash", 1)


def test_cell_magics_stack() -> None:
    cell = parse_cell("%%time\n%%capture out\nx = 1")
    assert [(m.name, m.body) for m in cell.magics] == [("time", ""), ("capture", "out")]
    assert cell.python == "\n\nx = 1"


@pytest.mark.parametrize("source", ["pip install numpy", "  cd data  ", "ls", "cd /tmp", "conda install -y x"])
def test_a_magic_without_its_percent_sign_is_read_in_a_cell_of_one_line(source: str) -> None:
    cell = parse_cell(source)
    assert cell.tree is not None
    assert [magic.name for magic in cell.magics] == [source.split()[0]]


@pytest.mark.parametrize(
    "source", ["ls = 3", "ls.append(2)", "time - start", "env[0]", "run(x)", "x = 1\nls", "who is me"]
)
def test_a_name_of_the_users_is_no_magic(source: str) -> None:
    assert parse_cell(source).magics == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [("x = 1\nfor i in x\n    pass", 2), ("%matplotlib inline\nx = = 2", 2), ("print 'a'", 1)],
)
def test_an_error_names_its_line(source: str, line: int) -> None:
    cell = parse_cell(source)
    assert cell.tree is None
    assert cell.error
    assert cell.error_line == line


@pytest.mark.parametrize(
    "source",
    [
        "x = '\x00'",
        "x = '\ud800'",
        "(" * 5000,
        "x" + ".a" * 100_000,
        "-" * 50_000 + "1",
        "\\",
        "'''",
        "%",
        "%%",
        "!",
        "?",
    ],
    ids=["null", "surrogate", "brackets", "attributes", "signs", "backslash", "quotes", "%", "%%", "!", "?"],
)
def test_parsing_never_raises(source: str) -> None:
    parse_cell(source)


def test_windows_line_ends_are_read() -> None:
    cell = parse_cell("%matplotlib inline\r\n!pip install x \\\r\n  y\r\nz = 1\r\n")
    assert [magic.body for magic in cell.magics] == ["inline", "pip install x y"]
    assert cell.tree is not None


@pytest.mark.parametrize(
    "source", ["pattern = '\\d'", "x = 1or 2", "x = [0xfor x in y]", "x = 1.if y else 1jelse 2"]
)
def test_parsing_warns_of_nothing(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_once(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                valid = bool(ast.parse(source))
            except SyntaxError:
                valid = False
        assert (parse_once(source).tree is not None) is valid
