"""What must not be reported: a clean run, whatever the cells do, and harmless reruns."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.recorder.check import UNSAFE, unreachable_reasons
from jupyter_clusterbridge.recorder.feeding import clock
from jupyter_clusterbridge.recorder.fingerprints import fingerprint

MUTATING = (
    "import random\nxs = []\ntotal = 0",
    "for i in range(3):\n    xs.append(i)\n    total += i",
    "def push(value):\n    global total\n    xs.append(value)\n    total = total + value\n    return len(xs)",
    "push(4)\npush(5)",
    "random.seed(3)\nnoise = [random.random() for _ in range(3)]",
    "ys = sorted(xs)\nys.append(random.random())",
    "class Box:\n    def __init__(self):\n        self.items = list(ys)\n    def grow(self):\n"
    "        self.items.append(total)\nbox = Box()\nalias = box",
    "alias.grow()\nbox.grow()",
    "try:\n    cached\nexcept NameError:\n    cached = len(box.items)",
    "total = total * 2\ndel noise\nprint(cached, total)",
)


def assert_silent(report, *allowed_kinds):
    assert [(c.cell_id, c.state.value, c.reasons) for c in report.cells if c.state.value != "current"] == []
    assert [i for i in report.interventions if i.kind.value not in allowed_kinds] == []
    assert unreachable_reasons(report) == ()
    assert all(reason.message.startswith(UNSAFE) for cell in report.cells for reason in cell.reasons)


def test_a_clean_run_of_a_mutating_notebook_raises_nothing(bench):
    one = bench(*MUTATING).run("*")
    assert all(result.success for result in one.results)
    assert_silent(one.check())


def test_two_clean_runs_with_a_restart_in_between_raise_the_restart_alone(bench):
    one = bench(*MUTATING).run("*")
    one.restart()
    report = one.run("*").check()
    assert_silent(report, "kernel_restart")
    assert [i.kind.value for i in report.interventions] == ["kernel_restart"]


def test_what_was_done_before_a_restart_does_not_count_after_a_clean_run(bench):
    one = bench("x = 0", "x += 1", "y = x").run("a", "b", "b", "b", "c")
    one.restart()
    assert_silent(one.run("*").check(), "kernel_restart")


def test_comments_and_formatting_are_no_edit(bench):
    one = bench("x = 1", "y = x + 1").run("*")
    one.edit("a", "# the start\nx  =  (1)\n")
    assert_silent(one.check())


@pytest.mark.parametrize(
    ("sources", "order"),
    [
        (("x = 1", "y = x + 1", "z = y"), "abbbcab"),
        (("def f(n):\n    return n + 1", "y = f(1)", "z = y"), "abacbc"),
        (("import json", "s = json.dumps([1])", "print(s)"), "aabbcc"),
        (("xs = [3, 1]", "ys = sorted(xs)", "print(ys)"), "abbcc"),
        (("d = {'k': 1}", "d['m'] = 2", "print(d)"), "abbbc"),
        (("names = ['b', None]", "names = [n for n in names if n]", "n = len(names)"), "abbbc"),
        (
            ("class P:\n    size = 3\n    def go(self):\n        return self.size", "p = P()", "v = p.go()"),
            "abcabc",
        ),
        (("cfg = type('C', (), {})()", "cfg.lr = 0.1", "lr = cfg.lr"), "abc"),
    ],
)
def test_reruns_of_cells_that_do_not_accumulate_leave_all_current(bench, sources, order):
    one = bench(*sources).run(*order)
    assert all(result.success for result in one.results)
    assert_silent(one.check(), "rerun")


def test_running_all_twice_without_accumulation_leaves_all_current(bench):
    one = bench("n = 3", "xs = list(range(n))", "xs.append(n)", "s = sum(xs)").run("*", "*")
    assert_silent(one.check(), "rerun")


def test_an_edit_that_was_run_from_there_on_leaves_all_current(bench):
    one = bench("lr = 0.1", "other = 2", "z = lr * other").run("*").edit("a", "lr = 0.01").run("a", "c")
    assert_silent(one.check(), "edited_rerun", "rerun")


def test_editing_one_of_two_settings_in_a_cell_leaves_readers_of_the_other_current(bench):
    one = bench("lr = 0.1\nsize = 32", "batch = [0] * size", "step = lr * 2").run("*")
    one.edit("a", "lr = 0.2\nsize = 32").run("a")
    assert one.states() == "ccd"


def test_an_added_print_does_not_make_readers_diverge(bench):
    one = bench("x = [1]", "y = x").run("*").edit("a", "x = [1]\nprint(x)\nx").run("a")
    assert_silent(one.check(), "edited_rerun")


def test_moving_independent_cells_in_the_file_leaves_them_current(bench):
    one = bench("x = 1", "y = 2", "z = x + y").run("*")
    one.cells = {key: one.cells[key] for key in "bac"}
    assert [c.state.value for c in one.check().cells] == ["current"] * 3


def test_a_deleted_cell_that_nothing_uses_is_no_hidden_state(bench):
    one = bench("x = 1", "scratch = x * 100", "y = x").run("*").delete("b")
    assert_silent(one.check())


def test_a_cell_pasted_anew_after_its_deletion_is_no_hidden_state(bench):
    one = bench("x = 1", "y = x").run("*")
    one.cells = {"k": "x = 1", "b": "y = x"}
    assert one.check().cells[1].state.value == "current"
    assert "deleted_cell_state" not in one.kinds()


def test_a_cell_that_failed_and_was_repaired_leaves_all_current(bench):
    one = bench("x = 1", "y = x + missing", "z = x").run("*").edit("b", "y = x + 1").run("b")
    assert_silent(one.check(), "failed_run", "edited_rerun")


def test_a_seeded_cell_may_run_again(bench):
    one = bench("import random", "random.seed(1)\nv = random.random()", "w = random.random()").run(*"abcbc")
    assert_silent(one.check(), "rerun")


def test_a_function_of_the_notebook_that_seeds_counts_as_a_seed(bench):
    one = bench(
        "import random\ndef fix():\n    random.seed(1)", "fix()\nv = random.random()", "w = random.random()"
    )
    assert_silent(one.run(*"abcbc").check(), "rerun")


def test_names_made_before_recording_began_are_not_held_against_a_cell(bench):
    one = bench("x = 1", "y = x + 1", "z = y")
    one.close()
    one.shell.run_cell("x = 1", store_history=True, cell_id="a")
    one.recorder.start(one.path)
    assert one.run("b", "c").states() == "ncc"


def test_markdown_and_empty_cells_are_not_called_never_run(bench):
    assert bench("x = 1", "", "   \n").run("a").states() == "ccc"


def test_without_a_journal_nothing_is_known(bench, tmp_path):
    one = bench("x = 1")
    report = __import__("jupyter_clusterbridge.recorder.check", fromlist=["x"]).check_notebook(one.save(), ())
    assert not report.recorded
    assert [c.state.value for c in report.cells] == ["never_run"]
    assert unreachable_reasons(report) == ()


def test_numpy_and_pandas_cells_that_repeat_themselves_leave_all_current(bench):
    pytest.importorskip("pandas")
    one = bench(
        "import numpy as np\nimport pandas as pd\ndf = pd.DataFrame({'a': [1.0, 2.0, None]})\nbox = np.zeros(4)",
        "df['b'] = df['a'] * 2\nbox[1] = 5",
        "df = df.dropna()",
        "m = df['b'].mean() + box.sum()\ndf.describe()",
    )
    assert_silent(one.run(*"abcdccdd").check(), "rerun")


def test_an_estimator_may_be_fitted_again(bench):
    pytest.importorskip("sklearn")
    one = bench(
        "from sklearn.linear_model import LogisticRegression\nX, y = [[0.0], [1.0]], [0, 1]",
        "model = LogisticRegression()",
        "model.fit(X, y)",
        "score = model.score(X, y)",
    )
    assert_silent(one.run(*"abcccd").check(), "rerun")


def test_a_frame_whose_blocks_pandas_joins_has_not_changed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "when": pandas.to_datetime(["2026-01-01", "2026-01-02"])})
    frame["b"] = frame["a"] * 2
    before = fingerprint(frame, clock() + 1)
    frame._consolidate_inplace()
    assert len(frame._mgr.blocks) == 2
    assert fingerprint(frame, clock() + 1).digest == before.digest
    frame.iloc[0, 2] = 9.0
    assert fingerprint(frame, clock() + 1).digest != before.digest


@pytest.mark.parametrize(
    "source",
    [
        "config['lr'] = 0.01",
        "config['double'] = config['lr'] * 2\nconfig['half'] = config['double'] / 4\nconfig.get('lr')",
    ],
)
def test_setting_a_part_anew_is_safe_to_run_again(bench, source):
    one = bench("config = {'lr': 0.1, 'n': 3}", source, "shown = sorted(config.items())").run("*")
    assert_silent(one.check())
    assert not one.cell("b").unsafe_to_rerun
    assert_silent(one.run("b", "c").check(), "rerun")


def test_a_module_does_not_depend_on_what_its_functions_were_given(bench):
    one = bench("x = 1", "import json\ntext = json.dumps(x)", "known = json.loads('2')")
    one.run("*").edit("a", "x = 5").run("a")
    assert one.states() == "cdc"


@pytest.mark.parametrize(
    "source",
    [
        "df.loc[mask, 'z'] = 0",
        "df.loc[df['z'] > 3, 'z'] = 0",
        "df.loc[(df.z > 3) & df.x.isna(), 'x'] = 0",
        "df.iloc[0, 1] = 9",
        "df['both'] = df.x * 2\ndf['sum'] = df['both'] + df['x']",
        "for name in ['p', 'q']:\n    df[name] = 0",
        "values[values > 1] = 7\nvalues[:1] = 3",
        "nested['a']['b'] = 5",
        "seen.add(3)\nnested.update(c=1)\nnested.setdefault('d', 4)",
        "order.sort()",
    ],
)
def test_setting_parts_to_what_does_not_depend_on_them_is_safe_to_run_again(bench, source):
    pytest.importorskip("pandas")
    one = bench(
        "import numpy as np\nimport pandas as pd\ndf = pd.DataFrame({'x': [1.0, None], 'z': [3.0, 4.0]})\n"
        "mask = df.z > 3\nvalues = np.ones(4) * 2\nnested = {'a': {'b': 1}}\nseen = {1}\norder = [3, 1]",
        source,
        "shown = (df.sum(), values.sum(), nested, seen, order)",
    ).run("*")
    assert all(result.success for result in one.results)
    assert_silent(one.check())
    assert not one.cell("b").unsafe_to_rerun
    assert_silent(one.run("b", "c", "b").check(), "rerun")


@pytest.mark.torch
def test_switching_a_model_to_evaluation_is_safe_to_run_again(bench):
    pytest.importorskip("torch")
    one = bench("import torch\nmodel = torch.nn.Linear(2, 1)", "model.eval()", "y = model(torch.ones(1, 2))")
    one.run("*")
    assert not one.cell("b").unsafe_to_rerun
    assert_silent(one.run("b", "c").check(), "rerun")


def test_timing_what_changes_nothing_is_silent_and_binds_nothing(bench):
    one = bench(
        "x = 1\ndef f():\n    return x", "%timeit -n 2 -r 1 f()", "%%timeit -n 2 -r 1\nx = f() + 5", "y = x"
    )
    assert_silent(one.run("*", "b", "c", "d").check(), "rerun")
    assert one.shell.user_ns["y"] == 1


@pytest.mark.torch
def test_measuring_in_evaluation_mode_is_safe_to_run_again(bench):
    pytest.importorskip("torch")
    one = bench(
        "import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout())",
        "model.eval()\nwith torch.no_grad():\n    y = model(torch.ones(1, 2)).item()",
        "model.train()",
    ).run("*")
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)


@pytest.mark.parametrize(
    "source",
    [
        "df = df.dropna()",
        "df = df.rename(columns={'x': 'z'})",
        "df = df.sort_values('x')",
        "order = sorted(order)",
        "text = text.strip()",
        "size = int(size)",
    ],
)
def test_bringing_a_value_to_a_form_that_it_keeps_is_safe_to_run_again(bench, source):
    pytest.importorskip("pandas")
    one = bench(
        "import pandas as pd\ndf = pd.DataFrame({'x': [2.0, None, 1.0]})\norder = [3, 1]\ntext = ' a'\nsize = '3'",
        source,
        "shown = (df.size, order, text, size)",
    ).run("*")
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)
    assert_silent(one.run("b", "c").check(), "rerun")


def test_a_stream_that_no_cell_seeds_is_held_against_nobody(bench):
    assert_silent(
        bench("import random", "a = random.random()", "b = a + random.random()").run(*"abbc").check(), "rerun"
    )


def test_an_array_made_of_a_list_of_its_name_may_be_made_again(bench):
    pytest.importorskip("numpy")
    one = bench("import numpy as np\npath = [1, 2]", "path = np.array(path)", "n = path.sum()").run("*")
    assert not any(cell.unsafe_to_rerun for cell in one.check().cells)


def test_a_figure_may_be_saved_and_shown_again(bench, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    one = bench(
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2]);", "fig.savefig('x.png')"
    ).run(*"abb")
    assert one.states() == "cc"
    assert not one.cell("b").unsafe_to_rerun


def test_an_object_that_holds_the_global_stream_does_not_change_with_it(bench):
    pytest.importorskip("scipy")
    one = bench(
        "import numpy as np\nimport scipy.stats\nfrom types import SimpleNamespace as N",
        "plan = N(lr=scipy.stats.loguniform(0.01, 1))\nlook = lambda p: np.random.rand() + len(vars(p))",
        "x = look(plan)",
    ).run("*")
    assert not one.cell("c").unsafe_to_rerun
