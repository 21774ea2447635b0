"""What must be reported: state that no clean run of the saved file reaches."""

from __future__ import annotations

import dataclasses

import pytest

from jupyter_clusterbridge.app.text import check_lines
from jupyter_clusterbridge.recorder.check import unreachable_reasons
from jupyter_clusterbridge.recorder.footprint import Footprint


def test_a_cell_run_three_times_that_accumulates_makes_itself_and_its_readers_diverge(bench):
    one = bench("x = 0", "x += 1", "y = x").run(*"abbbc")
    assert one.states() == "cdd"
    assert "2 earlier runs" in one.cell("b").reasons[0].message
    assert "3 times by cell 1" in one.cell("c").reasons[0].message
    assert len(unreachable_reasons(one.check())) == 1


def test_appending_again_diverges(bench):
    assert bench("xs = []", "xs.append(1)", "n = len(xs)").run(*"abbc").states() == "cdd"


def test_a_function_that_changes_a_global_diverges_when_called_again(bench):
    one = bench("total = 0\ndef bump():\n    global total\n    total += 1", "bump()", "print(total)").run(*"abbc")
    assert one.states() == "cdd"


def test_an_object_that_its_own_method_changes_diverges_when_called_again(bench):
    one = bench("class B:\n    n = 0\n    def go(self):\n        self.n += 1\nb = B()", "b.go()", "v = b.n")
    assert one.run(*"abbc").states() == "cdd"


def test_a_change_through_another_name_diverges_the_first(bench):
    one = bench("xs = []\nys = xs", "ys.append(1)", "n = len(xs)").run(*"abbc")
    assert one.states() == "cdd"


def test_a_value_bound_from_its_own_old_value_diverges(bench):
    assert bench("x = 1", "t = x\nx = t * 2", "y = x").run(*"abbc").states() == "cdd"


def test_a_self_changing_cell_is_unsafe_to_rerun_after_a_clean_run(bench):
    one = bench("x = 0", "x += 1", "y = []\ny.append(x)").run("*")
    assert [cell.unsafe_to_rerun for cell in one.check().cells] == [False, True, False]
    assert "`x`" in one.cell("b").reasons[0].message


def test_an_edited_cell_is_edited_and_its_readers_diverge_until_they_run_again(bench):
    one = bench("x = 1", "y = x", "z = 5").run("*").edit("a", "x = 2")
    assert one.states() == "edc"
    assert one.cell("b").reasons[0].remedy == "run cell 0 first, then this cell"
    assert one.run("a").states() == "cdc"
    assert one.run("b").states() == "ccc"


def test_a_producer_below_its_reader_diverges_it_and_is_out_of_order(bench):
    one = bench("x = 1", "y = x", "x = 2").run("a", "c", "b")
    assert one.states() == "cdc"
    reason = one.cell("b").reasons[0]
    assert (reason.kind, reason.name, reason.cell_id) == ("name", "x", "c")
    assert "cell 2 below" in reason.message
    assert "from cell 0" in reason.message
    assert "out_of_order" in one.kinds()


def test_a_cell_that_was_never_run_but_would_change_what_others_read_diverges_them(bench):
    assert bench("x = 1", "x = x * 2", "y = x").run("a", "c").states() == "cnd"


def test_state_of_a_deleted_cell_is_named(bench):
    one = bench("x = 1", "x = 50", "y = x").run("*").delete("b")
    report = one.check()
    assert one.states() == "cd"
    assert "deleted_cell_state" in one.kinds()
    assert "not in the saved file" in report.cells[1].reasons[0].message
    assert unreachable_reasons(report)


def test_a_name_that_only_a_deleted_cell_made_is_named(bench):
    one = bench("helper = lambda v: v + 1", "y = helper(1)").run("*").delete("a")
    assert one.states() == "d"
    assert one.check().interventions[-1].cell_id == "a"


def test_a_shifted_random_stream_diverges_what_draws_from_it(bench):
    one = bench("import random\nrandom.seed(0)", "a = random.random()", "b = random.random()").run(*"abbc")
    assert one.states() == "cdd"
    assert one.cell("c").reasons[0].kind == "rng"
    assert unreachable_reasons(one.check())


def test_a_random_draw_in_a_deleted_cell_is_named(bench):
    one = bench("import random\nrandom.seed(0)", "random.random()", "b = random.random()").run("*").delete("b")
    assert one.states() == "cd"
    assert "python" in one.cell("c").reasons[0].message


def test_a_changed_function_diverges_those_who_called_the_old_one(bench):
    one = bench("k = 1\ndef f():\n    return k", "y = f()").run("*").edit("a", "k = 1\ndef f():\n    return k + 1")
    assert one.run("a").states() == "cd"


def test_a_global_that_a_function_reads_counts_as_read_by_its_caller(bench):
    one = bench("k = 1", "def f():\n    return k", "y = f()").run("*").edit("a", "k = 2").run("a")
    assert one.states() == "ccd"


def test_an_environment_variable_counts_as_a_location(bench):
    one = bench("import os\nos.environ['CB_T'] = '1'", "v = os.environ['CB_T']", "os.environ['CB_T'] = '2'")
    one.run("a", "c", "b")
    assert one.states() == "cdc"
    assert one.cell("b").reasons[0].kind == "env"


def test_a_half_done_change_of_an_interrupted_cell_diverges_its_rerun(bench):
    stop = "for i in range(3):\n    xs.append(i)\n    if len(xs) == 2:\n        raise KeyboardInterrupt"
    one = bench("xs = []", stop, "n = len(xs)").run(*"abbc")
    assert one.states() == "cdd"
    assert "interrupt" in one.kinds()


def test_an_iterator_that_was_advanced_twice_diverges(bench):
    assert bench("it = iter([1, 2, 3])", "first = next(it)", "y = first").run(*"abbc").states() == "cdd"


def test_a_numpy_array_changed_in_place_twice_diverges(bench):
    pytest.importorskip("numpy")
    one = bench("import numpy as np\na = np.ones(3)", "a *= 2", "s = a.sum()").run(*"abbc")
    assert one.states() == "cdd"


def test_a_frame_changed_by_a_function_twice_diverges(bench):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ndef double(f):\n    f['a'] = f['a'] * 2",
        "double(df)",
        "s = df['a'].sum()",
    )
    assert one.run(*"abbc").states() == "cdd"


@pytest.mark.torch
def test_training_twice_diverges_the_model_and_what_is_measured_on_it(bench):
    pytest.importorskip("torch")
    one = bench(
        "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        "def train():\n    for _ in range(3):\n        optimizer.zero_grad()\n"
        "        model(torch.ones(4, 2)).pow(2).mean().backward()\n        optimizer.step()",
        "train()",
        "with torch.no_grad():\n    value = model(torch.ones(1, 2)).item()",
    )
    assert one.run(*"abcd").states() == "cccc"
    assert one.cell("c").unsafe_to_rerun
    assert one.run("c", "d").states() == "ccdd"
    assert {reason.name for reason in one.cell("d").reasons} == {"model"}


def test_a_cell_that_failed_for_want_of_another_cell_diverges_and_names_it(bench):
    one = bench("data = [1]", "total = sum(data)").run("a", "b")
    one.restart()
    one.run("b")
    assert one.states() == "cd"
    reason = one.cell("b").reasons[0]
    assert (reason.name, reason.cell_id) == ("data", "a")
    assert reason.message.endswith("; cell 0 makes it")
    assert reason.remedy == "run cell 0 first, then this cell"


def test_a_cell_that_fails_in_a_clean_run_too_is_current(bench):
    assert bench("x = 1", "y = x / 0").run("a", "b").states() == "cc"


def test_a_cell_whose_last_run_was_interrupted_diverges(bench):
    one = bench("x = 1", "y = x\nraise KeyboardInterrupt", "z = 2").run("a", "b", "c")
    assert one.states() == "cdc"
    assert "a clean run goes on to the end" in one.cell("b").reasons[0].message


def test_what_a_decorator_or_a_cached_function_changes_is_seen(bench):
    one = bench(
        "import functools\nseen = []\ncounts = {}",
        "def noted(function):\n    @functools.wraps(function)\n    def inner(x):\n        seen.append(x)\n"
        "        return function(x)\n    return inner",
        "@noted\ndef work(x):\n    counts[x] = counts.get(x, 0) + 1\n    return x",
        "cached = functools.lru_cache(work)\nhalf = functools.partial(work, 2)",
        "work(1)",
        "cached(3)",
        "half()",
    ).run("*")
    for cell_id in "efg":
        assert one.cell(cell_id).reasons[0].message.startswith("running it again changes `counts` and `seen`")


def test_a_counter_or_a_setting_in_a_class_is_state(bench):
    one = bench(
        "class Acc:\n    total = 0\n    @classmethod\n    def push(cls, v):\n        cls.total += v\n"
        "class CFG:\n    lr = 0.1",
        "Acc.push(4)",
        "shown = Acc.total",
        "lr = CFG.lr",
        "CFG.lr = 0.5",
    )
    assert one.run("*").states() == "ccccc"
    assert one.run("b", "c", "d").states() == "cdddc"
    assert one.cell("d").reasons[0].message.startswith("`CFG.lr` was set by cell 4 below")


def test_using_a_class_changes_nothing_in_it(bench):
    one = bench(
        "import abc, enum, dataclasses\n"
        "class Base(abc.ABC):\n    size = [1]\n    def run(self):\n        return self.size",
        "class Colour(enum.Enum):\n    RED = 1\n@dataclasses.dataclass\nclass Box:\n    side: int = 1\n",
        "class Child(Base):\n    pass\nmade = [Child(), Box(2), Colour.RED, Colour(1)]",
        "isinstance(made[0], Base), Box() == Box(), made[0].run(), Child()",
    ).run(*"abcdcd")
    assert one.states() == "cccc"
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)


@pytest.mark.parametrize(
    "source",
    [
        "box['a'] = box['a'] * 2",
        "box['a'] = box['b'] + 1\nbox['b'] = box['a']",
        "box['a'] = sum(box.values())",
        "box['c'] = [1]\nbox.update(a=box['a'] + 1)",
        "for _ in range(2):\n    box['a'] = box['a'] + 1",
        "other = box\nother['a'] = box['a'] + 1",
        "old = box['a']\nbox['a'] = old + 1",
        "box['a'] = alias['a'] + 1",
        "box['a'] = known() + 1",
        "def inner():\n    return box['a']\nbox['a'] = inner() + 1",
        "key = 'a'\nbox['a'] = box[key] + 1",
        "box['a'], box['b'] = box['b'] + 1, box['a']",
        "for k in box:\n    box[k] = 3 * box[k]",
        "box.update(a=known() + 1)",
        "box.update(a=alias['a'] + 1)",
    ],
)
def test_setting_a_part_from_itself_accumulates(bench, source):
    one = bench("alias = box = {'a': 1, 'b': 2}\nknown = lambda: box['a']", source, "shown = dict(box)").run("*")
    assert one.cell("b").unsafe_to_rerun
    assert one.run("b", "c").states() == "cdd"


@pytest.mark.parametrize("source", ["%timeit -n 3 -r 1 bump()", "%%timeit -n 3 -r 1\nbump()", "%time bump()"])
def test_timing_what_accumulates_is_seen(bench, source):
    one = bench("xs = []\ndef bump():\n    xs.append(1)", source, "n = len(xs)").run("*")
    assert one.cell("b").unsafe_to_rerun
    assert one.run("b", "c").states() == "cdd"


@pytest.mark.parametrize(
    "source",
    [
        "df.loc[df.z < df.z.mean(), 'z'] = 100",
        "df.loc[0, 'z'] = df['z'].sum()",
        "df['z'] *= 2",
        "seen.add(len(seen))",
    ],
)
def test_setting_parts_that_decide_over_themselves_accumulates(bench, source):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'z': [1.0, 4.0, 5.0]})\nseen = {7}",
        source,
        "s = df.z.sum(), seen",
    )
    assert one.run("*").cell("b").unsafe_to_rerun
    assert one.run("b", "c").states() == "cdd"


def test_cells_below_one_at_which_a_clean_run_ends_diverge(bench):
    one = bench("x = 1", "raise SystemExit", "y = x", "z = 5").run(*"abc")
    assert one.states() == "ccdn"
    reason = one.cell("c").reasons[0]
    assert (reason.cell_id, reason.remedy) == ("b", "repair cell 1 or take it out")
    assert reason.message == "a clean run ends at cell 1, which ends with SystemExit, and never comes here"
    assert len(unreachable_reasons(one.check())) == 1
    assert one.edit("b", "pass").run("b").states() == "cccn"


def test_cells_below_one_that_fails_in_a_clean_run_too_diverge(bench):
    one = bench("x = 1", "y = x / 0", "z = x").run("*")
    assert one.states() == "ccd"
    assert "cell 1, which fails with ZeroDivisionError" in one.cell("c").reasons[0].message


def test_a_cell_that_failed_once_and_ran_through_at_another_time_ends_no_clean_run(bench):
    flaky = "import os\nif os.path.exists('first'):\n    os.remove('first')\n    raise OSError"
    one = bench("open('first', 'w').close()", flaky, "z = 1").run(*"abc")
    assert one.states()[2] == "d"
    assert one.run("b").states()[2] == "c"


def test_a_cause_is_said_once_for_all_the_names_that_it_holds_for(bench):
    one = bench("a = 1\nb = 2\nc = 3\nd = 4", "total = a + b + c + d").run("*").edit("a", "a = b = c = d = 5")
    lines = list(check_lines(one.check()))
    assert lines[4:] == [
        "cell 1: diverged",
        "    `a`, `b`, `c` and 1 more came from cell 0 before it was edited",
        "    -> run cell 0 first, then this cell",
    ]


def test_the_remedy_is_the_shortest_list_of_cells_and_it_helps(bench):
    one = bench("x = 1", "other = 2", "x += 1", "y = x", "z = other").run(*"abccde")
    assert one.states() == "ccddc"
    assert one.cell("d").reasons[0].remedy == "run cells 0 and 2 first, then this cell"
    assert one.cell("c").reasons[0].remedy == "run cell 0 first, then this cell"
    assert one.run("a", "c", "d").states() == "ccccc"
    assert one.cell("c").reasons[0].remedy == "create it in this cell, or run cell 0 first"


def test_a_restart_is_advised_only_where_no_list_of_cells_helps(bench):
    one = bench("try:\n    y = old\nexcept NameError:\n    y = 0", "z = y", "old = 5").run(*"abcab")
    assert one.states() == "ddc"
    assert {reason.remedy for reason in one.cell("b").reasons} == {
        "restart the kernel and run all cells from the top"
    }


@pytest.fixture
def without_time(monkeypatch):
    """Lets the comparison of ``box`` run out of time in every cell that looks at it."""
    finish = Footprint.finish

    def finished(self, ok):
        return dataclasses.replace(finish(self, ok), untracked=("name:box",) if "box" in self._before else ())

    monkeypatch.setattr(Footprint, "finish", finished)


def test_what_could_not_be_followed_is_said_once_and_is_never_clean(bench, without_time):
    one = bench("def look(box):\n    return len(box)\nbox = [[1]]", "look(box)", "n = box", "m = 1").run("*")
    assert [cell.state.value for cell in one.check().cells] == ["current", "not_tracked", "not_tracked", "current"]
    assert one.cell("b").untracked == ("name:box",)
    lines = list(check_lines(one.check()))
    assert lines[0].startswith("2 of 4 ")
    assert [line for line in lines if "not tracked" in line] == [
        "not tracked: `box`, too large to be compared in the time that a cell may cost"
    ]
    assert lines[-1] == "    whether cells 1 to 2 found what a clean run gives is not known"


def test_what_could_not_be_followed_is_known_again_where_it_is_made_anew(bench, without_time):
    one = bench("look = len\nbox = [[1]]", "look(box)", "box = [[2]]", "n = box").run("*")
    assert [cell.state.value for cell in one.check().cells] == ["current", "not_tracked", "current", "current"]


@pytest.mark.parametrize(
    "source",
    [
        "df = df.rename(columns={'a': 'b', 'b': 'a'})",
        "df = df.fillna(df.mean())",
        "order = order[1:]",
        "n = str(n) + '0'",
    ],
)
def test_binding_a_name_to_what_grows_from_it_accumulates(bench, source):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'a': [2.0, None], 'b': [1.0, 3.0]})\norder = [3, 1, 2]\nn = 1",
        source,
    )
    assert one.run("*").cell("b").unsafe_to_rerun


@pytest.mark.torch
def test_a_forward_pass_that_changes_buffers_is_not_only_a_switch_of_mode(bench):
    pytest.importorskip("torch")
    one = bench(
        "import torch\nmodel = torch.nn.BatchNorm1d(2)", "model.train()\ny = model(torch.ones(4, 2)).sum().item()"
    )
    assert one.run("*").cell("b").unsafe_to_rerun


def test_a_column_that_a_cell_below_dropped_is_what_its_reader_failed_for(bench):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1], 'b': [2]})", "m = df['b'].mean()", "del df['b']"
    )
    assert one.run("a", "c", "b").states() == "cdc"
    reason = one.cell("b").reasons[0]
    assert (reason.kind, reason.name, reason.cell_id) == ("column", "df.b", "c")
