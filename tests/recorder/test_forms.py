# ruff: noqa: E501
"""Every form of cell has an answer: what is said after a clean run, and after some cells have run again."""

from __future__ import annotations

import json

import pytest

from jupyter_clusterbridge.recorder.shell_files import shell_writes

COUNTER = "def counter():\n    n = 0\n    def bump():\n        nonlocal n\n        n += 1\n        return n\n    return bump"
FORMS = {
    # name: cells, cells run again, states then, cells unsafe to rerun then
    "async": (
        ("import asyncio\nxs = []\nasync def add():\n    await asyncio.sleep(0)\n    xs.append(1)", "await add()", "n = len(xs)"),
        "bc", "cdd", "b",
    ),
    "async without state": (("import asyncio\nasync def f(i):\n    return i", "r = await asyncio.gather(f(1), f(2))", "n = sum(r)"), "bbc", "ccc", ""),
    "async for": (("async def g():\n    for i in range(3):\n        yield i", "t = 0\nasync for i in g():\n    t += i", "u = t"), "bbc", "ccc", ""),
    "time": (("xs = []", "%%time\nxs.append(1)", "n = len(xs)"), "bc", "cdd", "b"),
    "time of one line": (("xs = []", "%time xs.append(1)", "n = len(xs)"), "bc", "cdd", "b"),
    "capture": (("x = 1", "%%capture out\nprint(x)\ny = x", "z = out.stdout\nw = y"), "bbc", "ccc", ""),
    "capture of what accumulates": (("xs = []", "%%capture out\nxs.append(1)", "n = len(xs)"), "bc", "cdd", "b"),
    "bash": (("%%bash\necho 5 > f.txt", "v = open('f.txt').read()"), "ab", "cc", ""),
    "bash that appends": (("open('f.txt', 'w').close()", "%%bash\necho 5 >> f.txt", "v = open('f.txt').read()"), "bc", "cdd", "b"),
    "shell that appends": (("open('f.txt', 'w').close()", "!echo 5 >> f.txt", "v = open('f.txt').read()"), "bc", "cdd", "b"),
    "writefile": (("%%writefile w.txt\n5", "v = open('w.txt').read()"), "ab", "cc", ""),
    "run": (("xs = []", "%run script.py", "y = inner + len(xs)"), "bc", "ccc", ""),
    "run in the notebook's names": (("xs = []", "%run -i growing.py", "y = inner + len(xs)"), "bc", "cdd", "b"),
    "run of a script that counts": (("count = 0", "%run -i counting", "n = count"), "bc", "cdd", "b"),
    "exec of a text that counts": (("count = 0\ntext = 'count = count + ' + '1'", "exec(text)", "n = count"), "bc", "cdd", "b"),
    "exec of a text that sets": (("count = 0\ntext = 'count = ' + '1'", "exec(text)", "n = count"), "bbc", "ccc", ""),
    "exec": (("xs = []", "exec('q = 1\\nxs.append(q)')", "y = q + len(xs)"), "bc", "cdd", "b"),
    "exec of text that is computed": (("xs = []\ntext = 'xs.append' + '(1)'", "exec(text)", "y = len(xs)"), "bc", "cdd", "b"),
    "exec that only binds": (("k = 3", "exec('q = k')", "y = q"), "bbc", "ccc", ""),
    "eval": (("k = 3", "v = eval('k + 1')", "y = v"), "bbc", "ccc", ""),
    "globals": (("k = 3", "globals()['q'] = k + 1", "y = q"), "bbc", "ccc", ""),
    "star import": (("from math import *", "y = sqrt(4)", "z = pi"), "abc", "ccc", ""),
    "generator": (("def gen():\n    yield from range(5)\ng = gen()", "a = next(g)", "b = list(g)"), "", "ccc", "bc"),
    "generator run on": (("def gen():\n    yield from range(5)\ng = gen()", "a = next(g)", "b = list(g)"), "b", "cdc", "c"),
    "generator expression": (("g = (x for x in [1, 2, 3])", "a = sum(g)", "b = sum(g)"), "b", "cdc", "bc"),
    "map": (("m = map(str, [1, 2])", "a = [x for x in m]", "b = a"), "bc", "cdd", "b"),
    "zip unpacked": (("m = zip([1, 2], [3, 4])", "a, b = m", "c = a"), "", "ccc", "b"),
    "open file": (("f = open('lines.txt')", "one = f.readline()", "two = f.readline()"), "b", "cdc", "bc"),
    "counter in a closure": ((COUNTER, "c = counter()", "a = c()", "b = a"), "cd", "ccdd", "c"),
    "closure over a constant": (("def make(k):\n    return lambda x: x + k\nadd = make(2)", "a = add(1)", "b = a"), "bbc", "ccc", ""),
    "list in a closure": (
        ("def make():\n    kept = []\n    def f(x):\n        kept.append(x)\n        return len(kept)\n    return f\nf = make()", "a = f(1)", "b = a"),
        "bc", "cdd", "b",
    ),
    "default that grows": (("def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)", "a = f(1)", "b = a"), "bc", "cdd", "b"),
    "attribute of a function": (("def f():\n    f.n += 1\n    return f.n\nf.n = 0", "a = f()", "b = a"), "bc", "cdd", "b"),
    "bound method": (("class A:\n    n = 0\n    def go(self):\n        self.n += 1\n        return self.n\ngo = A().go", "a = go()", "b = a"), "bc", "cdd", "b"),
    "property that counts": (("class A:\n    n = 0\n    @property\n    def p(self):\n        self.n += 1\n        return self.n\na = A()", "v = a.p", "w = v"), "bc", "cdd", "b"),
    "operator that accumulates": (("class A:\n    n = 0\n    def __setitem__(self, key, value):\n        self.n += value\na = A()", "a['k'] = 1", "w = a.n"), "bc", "cdd", "b"),
    "context manager": (
        ("import contextlib\nlog = []\n@contextlib.contextmanager\ndef noted():\n    log.append(1)\n    yield", "with noted():\n    x = 1", "n = len(log)"),
        "bc", "cdd", "b",
    ),
    "logger": (("import logging\nlog = logging.getLogger('q')\nlog.addHandler(logging.NullHandler())", "log.info('x')", "log.info('y')"), "bc", "ccc", ""),
    "cached function": (("import functools\n@functools.lru_cache\ndef f(x):\n    return x + 1", "a = f(1)", "b = f(1)"), "bc", "ccc", ""),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_cell_has_its_answer(bench, tmp_path, form):
    sources, again, states, unsafe = FORMS[form]
    (tmp_path / "script.py").write_text("inner = 5\n")
    (tmp_path / "growing.py").write_text("inner = 5\nxs.append(inner)\n")
    (tmp_path / "counting.py").write_text("count = count + 1\n")
    (tmp_path / "lines.txt").write_text("a\nb\nc\n")
    one = bench(*sources).run("*")
    assert all(result.success for result in one.results)
    assert set(one.states()) == {"c"}
    assert one.check().interventions == ()
    one.run(*again)
    assert one.states() == states
    assert "".join(cell.cell_id for cell in one.check().cells if cell.unsafe_to_rerun) == unsafe


def test_a_cell_that_raises_half_way_is_told_with_what_it_had_done(bench):
    one = bench(
        "xs = []\nbroken = True", "xs.append(1)\nif broken:\n    raise ValueError\nxs.append(2)", "n = len(xs)"
    )
    one.run("a", "b", "c")
    assert one.states() == "ccd"
    assert "a clean run ends at cell 1" in one.cell("c").reasons[0].message
    one.edit("a", "xs = []\nbroken = False").run("b")
    assert any("came from cell 0 before it was edited" in reason.message for reason in one.cell("b").reasons)
    one.run("a", "b", "c")
    assert one.states() == "ccc"


def test_a_cell_that_fails_but_may_do_so_ends_nothing(bench):
    one = bench("x = 1", "raise ValueError", "y = x").run("*")
    assert one.states() == "ccd"
    text = one.path.read_text().replace(
        '"source": "raise ValueError", "metadata": {}',
        '"source": "raise ValueError", "metadata": {"tags": ["raises-exception"]}',
    )
    one.path.write_text(text)
    from jupyter_clusterbridge.app.check import check_notebook_file

    report = check_notebook_file(one.path)
    assert [cell.state.value for cell in report.cells] == ["current"] * 3
    [failed] = report.interventions
    assert failed.harmless
    assert "tagged" in failed.remedy


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("!ls > a.txt 2>&1", {"a.txt": False}),
        ("!cat a | tee -a ./b.log", {"b.log": True}),
        ("!python -c 'print(1 > 2)' # > c", {}),
        ("!echo x > $HOME/y", {}),
        ("!echo x > {name}.txt", {}),
        ("%%bash\nfor f in *; do cat $f >> all.txt; done\nrm -f x", {"all.txt": True}),
        ("%%bash\necho a > b.txt\necho a >> b.txt", {"b.txt": False}),
        ("x = 1 > 2", {}),
        ("%%bash\nif [ 1 -gt 0 ]; then echo '> no'; fi", {}),
    ],
)
def test_files_that_shell_commands_write_are_in_their_text(source, files):
    assert shell_writes(source) == files


def may_raise(one, *ids):
    """The report where these cells are tagged as allowed to fail."""
    content = json.loads(one.save().path.read_text())
    for cell in content["cells"]:
        cell["metadata"] = {"tags": ["raises-exception"]} if cell["id"] in ids else {}
    one.path.write_text(json.dumps(content))
    from jupyter_clusterbridge.app.check import check_notebook_file

    return check_notebook_file(one.path)


def test_what_a_cell_that_may_fail_has_made_until_then_is_what_a_clean_run_gives(bench):
    one = bench(
        "x = 1",
        "a = [x]\nb = a[3]\nc = 2",
        "print(a)",
        "try:\n    c\nexcept NameError:\n    pass",
        "d = c + 1",
        "e = 1\ne = d",
        "print(e)",
    ).run("*")
    report = may_raise(one, "b", "e", "f")
    assert [(cell.state.value, cell.reasons) for cell in report.cells] == [("current", ())] * 7


def test_a_cell_that_may_fail_and_lacked_what_a_clean_run_gives_is_diverged(bench):
    one = bench("x = 1", "y = x", "z = y").run(*"bca")
    assert [cell.state.value for cell in may_raise(one, "b", "c").cells] == ["current", "diverged", "diverged"]
