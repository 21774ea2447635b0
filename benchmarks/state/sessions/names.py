"""Global names: edits, order, repetition, functions."""

from __future__ import annotations

from harness import Play, Truth, session


@session("name")
def counter_run_three_times(s: Play) -> Truth:
    """A counter cell runs three times, a clean run counts once."""
    s.cells("x = 0", "x += 1", "y = x")
    s.run("abbbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:x@b", "c": "name:x@b"})


@session("name")
def setting_edited_and_run_but_not_its_reader(s: Play) -> Truth:
    """The learning rate is edited and run; the cell that used the old one is not run again."""
    s.cells("lr = 0.1", "steps = [lr * i for i in range(3)]", "print('done')")
    s.run()
    s.edit("a", "lr = 0.01")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:lr@a"})


@session("name")
def setting_edited_and_not_run(s: Play) -> Truth:
    """An edit that never ran: the cell is edited, its reader got the old value."""
    s.cells("lr = 0.1", "rate = lr / 2")
    s.run()
    s.edit("a", "lr = 0.01")
    return Truth("ed", why={"a": "source:source@a", "b": "name:lr@a"})


@session("name")
def edit_taken_back_after_its_reader_ran(s: Play) -> Truth:
    """The edit is run, its reader runs, then the edit is taken back and run: the reader holds the trial value."""
    s.cells("k = 3", "score = k * 10", "print(score)")
    s.run()
    s.edit("a", "k = 5")
    s.run("ab")
    s.edit("a", "k = 3")
    s.run("a")
    # c printed the score of k = 3, as a clean run does, so only b is astray
    return Truth("cdc", did="edited_rerun rerun", may="", why={"b": "name:k@a"})


@session("name")
def reader_ran_after_a_cell_below_it(s: Play) -> Truth:
    """A name is bound above and below its reader, and the lower cell ran first."""
    s.cells("path = 'train'", "used = path.upper()", "path = 'test'")
    s.run("acb")
    return Truth("cdc", did="out_of_order", why={"b": "name:path@c"})


@session("name")
def name_made_only_below_its_reader(s: Play) -> Truth:
    """The only cell that makes a name stands below the one that uses it: a clean run stops with NameError."""
    s.cells("total = scale * 2", "scale = 21")
    s.run("ba")
    return Truth("dc", did="out_of_order", why={"a": "name:scale@b"})


@session("name")
def skipped_cell_between(s: Play) -> Truth:
    """The cell that drops the outliers was never run, so the mean is that of all values."""
    s.cells("values = [1, 2, 300]", "values = [v for v in values if v < 100]", "mean = sum(values) / len(values)")
    s.run("ac")
    return Truth("cnd", why={"c": "name:values@a"})


@session("name")
def value_bound_from_itself_twice(s: Play) -> Truth:
    """Normalisation by its own maximum plus one runs twice."""
    s.cells("v = [4, 8]", "v = [i / (max(v) + 1) for i in v]", "first = v[0]")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:v@b", "c": "name:v@b"})


@session("name")
def global_of_a_function_edited(s: Play) -> Truth:
    """A function's global is edited and run; what the function returned before is stale."""
    s.cells("rate = 2", "def price(n):\n    return n * rate", "total = price(10)", "print(total)")
    s.run()
    s.edit("a", "rate = 3")
    s.run("a")
    return Truth("ccdd", did="edited_rerun", why={"c": "name:rate@a", "d": "name:total@c"})


@session("name")
def function_edited_and_run_but_not_its_caller(s: Play) -> Truth:
    """A helper is repaired and run, its caller is not."""
    s.cells("def clean(text):\n    return text.strip()", "words = [clean(w) for w in (' A', 'b ')]", "len(words)")
    s.run()
    s.edit("a", "def clean(text):\n    return text.strip().lower()")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "name:clean@a", "c": "name:words@b"})


@session("name")
def function_that_counts_in_a_global(s: Play) -> Truth:
    """A function changes a global, and its call is repeated."""
    s.cells("seen = 0", "def note():\n    global seen\n    seen += 1", "note()", "print(seen)")
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "name:seen@c", "d": "name:seen@c"})


@session("name")
def loop_variable_left_over(s: Play) -> Truth:
    """A loop's variable is used below it; the loop was edited and run, the reader was not."""
    s.cells("for name in ('a', 'b'):\n    last = name.upper()", "label = name + last", "print('x')")
    s.run()
    s.edit("a", "for name in ('a', 'b', 'c'):\n    last = name.upper()")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "name:name@a name:last@a"})


@session("name")
def deleted_name_lives_on_in_the_file(s: Play) -> Truth:
    """A cell deletes a name that a cell below needs; that cell ran before the deletion."""
    s.cells("big = list(range(5))", "del big", "n = len(big)")
    s.run("acb")
    # a clean run stops at c: what c read does not exist there
    return Truth("ccd", did="out_of_order", unsafe="", either="b", why={"c": "name:big@a"})


@session("name")
def class_edited_but_its_object_is_old(s: Play) -> Truth:
    """A class is edited and run; the object was made from the old class."""
    s.cells(
        "class Net:\n    width = 2\n    def size(self):\n        return self.width * 2",
        "net = Net()",
        "params = net.size()",
    )
    s.run()
    s.edit("a", "class Net:\n    width = 2\n    def size(self):\n        return self.width * 3")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "name:Net@a", "c": "name:net@b"})


@session("name")
def generator_advanced_twice(s: Play) -> Truth:
    """The cell that takes the first batch of a generator runs twice, so it holds the second."""
    s.cells("batches = (list(range(i, i + 2)) for i in range(0, 8, 2))", "first = next(batches)", "s = sum(first)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:batches@b", "c": "name:first@b"})


@session("name")
def generator_used_up(s: Play) -> Truth:
    """A generator that was used up by one cell is summed by the same cell again: nothing is left."""
    s.cells("g = (i * i for i in range(4))", "total = sum(g)", "mean = total / 4")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:g@b", "c": "name:total@b"})


@session("name")
def mutable_default_argument(s: Play) -> Truth:
    """A function keeps a list in its default argument; the call that fills it runs twice."""
    s.cells("def add(x, kept=[]):\n    kept.append(x)\n    return len(kept)", "n = add(1)", "print(n)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:add@b", "c": "name:n@b"})


@session("name")
def counter_in_a_closure(s: Play) -> Truth:
    """A closure counts its calls; the call runs twice."""
    s.cells(
        "def counter():\n    n = 0\n    def step():\n        nonlocal n\n        n += 1\n        return n\n    return step",
        "tick = counter()",
        "now = tick()",
        "print(now)",
    )
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "name:tick@c", "d": "name:now@c"})


@session("name")
def closure_over_an_edited_value(s: Play) -> Truth:
    """A closure was made with the old value; the cell that makes it did not run again."""
    s.cells("base = 2", "def make(n):\n    return lambda x: x ** n\npower = make(base)", "y = power(3)")
    s.run()
    s.edit("a", "base = 3")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "name:base@a", "c": "name:power@b"})


@session("name")
def exec_binds_a_name_twice_from_itself(s: Play) -> Truth:
    """A cell counts through ``exec``; it runs twice."""
    s.cells("n = 1", "exec('n = n * 2')", "m = n")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:n@b"})


@session("name")
def object_counts_in_its_own_method(s: Play) -> Truth:
    """An object's method changes it; the call runs twice."""
    s.cells(
        "class Meter:\n    def __init__(self):\n        self.n = 0\n    def add(self, k):\n        self.n += k",
        "meter = Meter()",
        "meter.add(5)",
        "shown = meter.n",
    )
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "name:meter@c", "d": "name:meter@c"})


@session("name")
def two_settings_one_edited(s: Play) -> Truth:
    """One of two settings of a cell is edited; only the reader of that one is stale."""
    s.cells("a1 = 1\nb1 = 2", "x = a1 + 1", "y = b1 + 1")
    s.run()
    s.edit("a", "a1 = 1\nb1 = 20")
    s.run("a")
    return Truth("ccd", did="edited_rerun", why={"c": "name:b1@a"})
