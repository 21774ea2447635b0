"""Clean sessions in plain Python."""

from __future__ import annotations

from harness import Play, Truth, session


@session("clean")
def comments_and_formatting_edited(s: Play) -> Truth:
    """Comments, blank lines, quotes and line breaks are edited after the run."""
    s.cells("x=1", 'name = "a"', "y = [x,\n     2]", "print(y)")
    s.run()
    s.edit("a", "# the first value\nx = 1")
    s.edit("b", "name = 'a'")
    s.edit("c", "y = [x, 2]  # both\n")
    return Truth("cccc")


@session("clean")
def explored_then_restarted_and_run_all(s: Play) -> Truth:
    """Wild exploration, then a restart and all cells from the top."""
    s.cells("n = 1", "n += 1", "m = n * 2", "print(m)")
    s.run("abbbcbdcad")
    s.restart()
    s.run()
    return Truth("cccc", unsafe="b", did="kernel_restart")


@session("clean")
def setting_tried_and_all_below_run(s: Play) -> Truth:
    """A setting is edited, and everything below it runs again."""
    s.cells("k = 2", "def f(x):\n    return x * k", "ys = [f(i) for i in range(3)]", "print(sum(ys))")
    s.run()
    s.edit("a", "k = 5")
    s.run("acd")
    return Truth("cccc", did="edited_rerun rerun")


@session("clean")
def setting_edited_to_an_equal_value(s: Play) -> Truth:
    """``1e-1`` instead of ``0.1``: the reader has the value that a clean run gives it."""
    s.cells("lr = 0.1", "rate = lr / 2", "print(rate)")
    s.run()
    s.edit("a", "lr = 1 / 10")
    s.run("a")
    return Truth("ccc", did="edited_rerun")


@session("clean")
def classes_with_attributes(s: Play) -> Truth:
    """A class, an object, methods that read it."""
    s.cells(
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\n    def norm(self):\n        return abs(self.x) + abs(self.y)",
        "p = Point(3)",
        "p.y = 4",
        "d = p.norm()",
        "q = Point(1, 2)\nprint(d, q)",
    )
    s.run("abcdcde")
    return Truth("ccccc", did="rerun")


@session("clean")
def list_built_in_its_own_cell(s: Play) -> Truth:
    """The list is created in the cell that fills it, so the cell may run as often as one likes."""
    s.cells("names = ('a', 'b')", "rows = []\nfor n in names:\n    rows.append(n * 2)", "total = len(rows)")
    s.run("abcbbc")
    return Truth("ccc", did="rerun")


@session("clean")
def list_filled_once_below(s: Play) -> Truth:
    """A clean run in which a list is filled by two cells below its own."""
    s.cells("rows = []", "rows.append(1)", "rows.extend([2, 3])", "n = len(rows)", "print(n)")
    s.run()
    return Truth("ccccc", unsafe="bc")


@session("clean")
def dictionary_entries_set(s: Play) -> Truth:
    """Entries of a dictionary are set to values that do not come from it."""
    s.cells(
        "cfg = {}", "cfg['lr'] = 0.1\ncfg.update(steps=5)", "cfg.setdefault('name', 'run')", "print(cfg['lr'])"
    )
    s.run("abbcdcd")
    return Truth("cccc", did="rerun")


@session("clean")
def sets_and_sorting(s: Play) -> Truth:
    """Adding the same to a set and sorting a list again change nothing."""
    s.cells("tags = set()\nxs = [3, 1, 2]", "tags.add('a')", "xs.sort()", "first = xs[0], len(tags)")
    s.run("abbccd")
    return Truth("cccc", did="rerun")


@session("clean")
def closures_and_partials(s: Play) -> Truth:
    """Closures, partials, lambdas and a cached function."""
    s.cells(
        "import functools",
        "def scale(k):\n    def inner(x):\n        return x * k\n    return inner",
        "double = scale(2)\nadd = functools.partial(lambda a, b: a + b, 1)",
        "@functools.lru_cache\ndef slow(n):\n    return sum(range(n))",
        "a = double(3), add(4), slow(10)",
        "b = slow(10) + a[0]",
    )
    s.run("abcdefef")
    return Truth("cccccc", did="rerun", either="ef")


@session("clean")
def generator_made_and_used_in_one_cell(s: Play) -> Truth:
    """A generator is made where it is used up."""
    s.cells(
        "def chunks(xs, n):\n    for i in range(0, len(xs), n):\n        yield xs[i:i + n]",
        "parts = list(chunks([1, 2, 3, 4, 5], 2))",
        "sizes = [len(p) for p in parts]",
    )
    s.run("abcbc")
    return Truth("ccc", did="rerun")


@session("clean")
def loop_with_the_same_helper_names(s: Play) -> Truth:
    """``i`` and ``tmp`` are bound by several cells; each cell reads only its own."""
    s.cells(
        "for i in range(3):\n    tmp = i * 2",
        "out = []\nfor i in (5, 6):\n    tmp = i + 1\n    out.append(tmp)",
        "for i in out:\n    print(i)",
    )
    s.run("abcacbc")
    return Truth("ccc", did="rerun", may="out_of_order")


@session("clean")
def async_calls(s: Play) -> Truth:
    """await, gather and an async context manager."""
    s.cells(
        "import asyncio\nasync def get(i):\n    await asyncio.sleep(0.001)\n    return i * 2",
        "one = await get(4)",
        "many = await asyncio.gather(*(get(i) for i in range(4)))",
        "two = await asyncio.wait_for(get(one), 5)",
        "print(one, many, two)",
    )
    s.run("abcdebcde")
    return Truth("ccccc", did="rerun")


@session("clean")
def files_written_and_read(s: Play) -> Truth:
    """A file is written and read, both again."""
    s.cells(
        "from pathlib import Path\nimport json",
        "Path('out').mkdir(exist_ok=True)",
        "Path('out/a.json').write_text(json.dumps({'k': 1}))",
        "data = json.loads(Path('out/a.json').read_text())",
        "print(sorted(p.name for p in Path('out').iterdir()))",
    )
    s.run("abcdebcde")
    return Truth("ccccc", did="rerun")


@session("clean")
def data_files_only_read(s: Play) -> Truth:
    """A data file is read by two cells, again and again."""
    s.write("data.csv", "a,b\n1,2\n3,4\n")
    s.cells(
        "import csv\nrows = list(csv.DictReader(open('data.csv')))",
        "n = len(rows)",
        "head = open('data.csv').readline()",
    )
    s.run("abcabc")
    return Truth("ccc", did="rerun")


@session("clean")
def environment_and_seeds_at_the_top(s: Play) -> Truth:
    """The usual first cell: variables, seeds, options."""
    s.cells(
        "import os, random\nimport numpy as np\nos.environ['CB_TOKENIZERS'] = 'false'\nrandom.seed(0)\nnp.random.seed(0)",
        "xs = [random.random() for _ in range(3)]",
        "ys = np.random.rand(3)",
        "print(os.environ['CB_TOKENIZERS'], len(xs) + len(ys))",
    )
    s.run()
    return Truth("cccc")


@session("clean")
def unseeded_draw(s: Play) -> Truth:
    """A clean run that draws without a seed: the numbers differ each time, but nothing came from elsewhere."""
    s.cells("import random", "x = random.random()", "y = x * 2")
    s.run()
    return Truth("ccc")


@session("clean")
def swapped_and_unpacked(s: Play) -> Truth:
    """Tuples, star patterns, walrus, match and conditional bindings."""
    s.cells(
        "a, *rest = (1, 2, 3)",
        "if (n := len(rest)) > 1:\n    size = 'big'\nelse:\n    size = 'small'",
        "match (a, size):\n    case (1, kind):\n        label = kind\n    case _:\n        label = None",
        "pairs = {k: v for k, v in zip('ab', rest)}",
        "print(label, pairs, n)",
    )
    s.run("abcdebcde")
    return Truth("ccccc", did="rerun")


@session("clean")
def local_module_imported(s: Play) -> Truth:
    """A local module is imported and used; nobody touches its file."""
    s.write("helpers.py", "K = 3\n\n\ndef twice(x):\n    return 2 * x\n")
    s.cells(
        "import helpers\nfrom helpers import twice",
        "y = twice(4)",
        "z = helpers.K + y",
        "from helpers import *\nw = K",
    )
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def deleted_scratch_cells(s: Play) -> Truth:
    """Scratch cells that only looked are deleted."""
    s.cells("x = [1, 2]", "len(x)", "y = x[0]", "print(y)", "tmp = 5", "z = y + 1")
    s.run()
    s.delete("b", "d", "e")
    return Truth("ccc")


@session("clean")
def read_only_objects_passed_to_functions(s: Play) -> Truth:
    """Functions of the notebook look at lists, dictionaries and objects, and change none."""
    s.cells(
        "def stats(rows):\n    out = {}\n    for r in rows:\n        out[r['k']] = out.get(r['k'], 0) + 1\n    return out",
        "rows = [{'k': 'a'}, {'k': 'b'}, {'k': 'a'}]",
        "counts = stats(rows)",
        "top = max(counts, key=counts.get)",
    )
    s.run("abcdcd")
    return Truth("cccc", did="rerun")
