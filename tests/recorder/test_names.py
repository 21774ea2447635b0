"""What the syntax tree of a cell tells."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.recorder.names import analyse_cell


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("x = 1\ny = x + z", "z", "x y"),
        ("x += 1", "x", "x"),
        ("[i * m for i in n if (v := i)]", "m n", "v"),
        ("{a: b for a, b in pairs for c in b}", "pairs", ""),
        ("f = lambda p, q=r: p + s", "r s", "f"),
        ("def f(a, b=c):\n    return a + g", "c", "f"),
        ("class A(B):\n    k = D\n    m = k", "B D", "A"),
        ("try:\n    import t\nexcept E as e:\n    t = e\nt", "E", "t"),
        ("try:\n    x = 1\nexcept E:\n    raise\nx", "E", "x"),
        ("if c:\n    x = 1\nx", "c x", "x"),
        ("if c:\n    x = 1\nelse:\n    x = 2\nx", "c", "x"),
        ("for i in it:\n    t = i\nprint(t)", "it print", "i t"),
        ("with o as h, p as q:\n    h", "o p", "h q"),
        ("match s:\n    case [a, *r]:\n        pass\n    case {'k': v, **rest}:\n        pass", "s", "a r rest v"),
        ("import a.b, c as d\nfrom e import f as g", "", "a d g"),
        ("from e import *", "", ""),
        ("x: int\ny: int = 1", "", "y"),
        ("a, (b, *c) = d", "d", "a b c"),
        ("del x", "x", ""),
        ("global x\nx = 1", "", "x"),
        ("%matplotlib inline\nx = !ls\ny = %magic", "", "x y"),
        ("%%time\nx = y", "y", "x"),
        ("f'{x} {y:{z}}'", "x y z", ""),
    ],
)
def test_names_read_before_bound_and_names_bound(source, reads, binds):
    total = analyse_cell(source).total
    assert (sorted(total.reads), sorted(total.binds)) == (sorted(reads.split()), sorted(binds.split()))


@pytest.mark.parametrize(
    ("source", "stores"),
    [
        ("a.b[c].append(d)", "a"),
        ("a['k'] = 1", "a"),
        ("a.k += 1", "a"),
        ("del a[0]", "a"),
        ("t.add_(1)", "t"),
        ("df.drop(columns=['x'], inplace=True)", "df"),
        ("np.add(x, 1, out=x)", "np x"),
        ("next(it)", "it"),
        ("random.shuffle(xs)", "random xs"),
        ("model.fit(x)", "model"),
        ("xs = []\nxs.append(1)", ""),
        ("print(xs)\nlen(xs)", ""),
        ("ys = sorted(xs)", ""),
    ],
)
def test_objects_changed_in_place_for_certain(source, stores):
    assert sorted(analyse_cell(source).total.stores) == sorted(stores.split())


def test_functions_are_known_by_the_globals_of_their_bodies():
    source = "def f(a):\n    global g\n    g = a + q\n    def h():\n        return w + a\n    return h"
    body = analyse_cell(source).total.defines["f"]
    assert (body.reads, body.binds) == ({"q", "w"}, {"g"})


def test_methods_do_not_see_the_names_of_their_class():
    body = analyse_cell("class A:\n    c = 1\n    def m(self):\n        return c").total.defines["A"]
    assert body.reads == {"c"}


def test_environment_variables_are_locations_of_their_own():
    total = analyse_cell("import os\nos.environ['A'] = '1'\nos.getenv('B')\nos.environ.get('C')\n%env D=1").total
    assert (total.env_writes, total.env_reads) == ({"A", "D"}, {"B", "C"})


@pytest.mark.parametrize(
    ("source", "items", "stores"),
    [
        ("for c in ('s', 'e'):\n    df[c + '_t'] = df[c] * 2", {"s", "e"}, {"s_t", "e_t"}),
        ("for i in ('1', '2'):\n    df[f'x{i}'] = 0", set(), {"x1", "x2"}),
        ("k = 1\ndf[k + 1] = 0", set(), set()),
    ],
)
def test_labels_put_together_from_spelled_out_texts_are_known(source, items, stores):
    total = analyse_cell(source).total
    assert {label for _, label in total.items} == items
    assert {label for _, label in total.item_stores} == stores


def test_seeds_are_known_by_stream():
    assert analyse_cell("np.random.seed(0)").total.seeds == {"numpy"}
    assert analyse_cell("random.seed(0)").total.seeds == {"python"}
    assert analyse_cell("torch.manual_seed(0)").total.seeds == {"torch", "torch_cuda"}
    assert analyse_cell("set_seed(0)").total.seeds == {"python", "numpy", "torch", "torch_cuda"}
    assert analyse_cell("random.seed()").total.seeds == set()


def test_the_key_ignores_formatting_and_comments_but_not_magics():
    assert analyse_cell("x=1 # a").key == analyse_cell("x = (1)\n").key
    assert analyse_cell("x = 1").key != analyse_cell("x = 2").key
    assert analyse_cell("x = %time 1").key != analyse_cell("x = %time 2").key
    assert analyse_cell("%%bash\nls").key != analyse_cell("%%bash\npwd").key


@pytest.mark.parametrize("source", ["x = (", "\0", "%%bash\nif [", "((((" * 500, "é = 'ü'", "return 5", "\udcff"])
def test_no_source_is_too_broken(source):
    analyse_cell(source)
