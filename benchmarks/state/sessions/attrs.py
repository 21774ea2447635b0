"""Attributes of classes and modules."""

from __future__ import annotations

from harness import Play, Truth, session

CONFIG = "class Config:\n    lr = 0.1\n    size = 8"
SETTINGS = "lr = 0.1\nsize = 4\n\n\ndef scale(x):\n    return x * 2\n"


@session("attr")
def class_setting_changed_by_a_cell_below(s: Play) -> Truth:
    """A cell below sets another learning rate in the class and ran first; the size is what it was."""
    s.cells(CONFIG, "rate = Config.lr", "n = Config.size", "Config.lr = 0.5")
    s.run("adbc")
    return Truth("cdcc", did="out_of_order", why={"b": "attr:Config.lr@d"})


@session("attr")
def class_setting_edited(s: Play) -> Truth:
    """The cell that sets an attribute of the class is edited and run, its reader is not."""
    s.cells(CONFIG, "Config.lr = 0.2", "rate = Config.lr", "n = Config.size")
    s.run()
    s.edit("b", "Config.lr = 0.3")
    s.run("b")
    return Truth("ccdc", did="edited_rerun", why={"c": "attr:Config.lr@b"})


@session("attr")
def class_that_counts(s: Play) -> Truth:
    """A class method adds to an attribute of the class, twice."""
    s.cells(
        "class Acc:\n    total = 0\n    @classmethod\n    def push(cls, v):\n        cls.total += v",
        "Acc.push(4)",
        "shown = Acc.total",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "attr:Acc.total@b", "c": "attr:Acc.total@b"})


@session("attr")
def class_attribute_raised_twice(s: Play) -> Truth:
    """An attribute of a class is raised in place by its own name, twice; another attribute is read too."""
    s.cells(CONFIG, "Config.size += 8", "layers = [0] * Config.size", "rate = Config.lr")
    s.run("abbcd")
    return Truth("cddc", unsafe="b", did="rerun", why={"b": "attr:Config.size@b", "c": "attr:Config.size@b"})


@session("attr")
def module_attribute_set_by_a_cell_below(s: Play) -> Truth:
    """A notebook sets a constant of its own settings module; the cell above ran afterwards."""
    s.write("settings.py", SETTINGS)
    s.cells("import settings", "rate = settings.lr", "settings.lr = 0.5", "n = settings.size")
    s.run("acbd")
    return Truth("cdcc", did="out_of_order", why={"b": "attr:settings.lr@c"})


@session("attr")
def function_of_a_module_replaced(s: Play) -> Truth:
    """A function of a module is replaced; the replacement is edited and run, its user is not."""
    s.write("settings.py", SETTINGS)
    s.cells("import settings", "settings.scale = lambda x: x * 3", "y = settings.scale(2)", "n = settings.size")
    s.run()
    s.edit("b", "settings.scale = lambda x: x * 4")
    s.run("b")
    return Truth("ccdc", did="edited_rerun", why={"c": "attr:settings.scale@b"})


@session("attr")
def method_of_a_class_replaced(s: Play) -> Truth:
    """The forward pass of a class is patched; the patch is edited and run, its user is not."""
    s.cells(
        "class Net:\n    def forward(self, x):\n        return x",
        "Net.forward = lambda self, x: x * 2",
        "y = Net().forward(3)",
    )
    s.run()
    s.edit("b", "Net.forward = lambda self, x: x * 5")
    s.run("b")
    return Truth("ccd", did="edited_rerun", why={"c": "attr:Net.forward@b|name:Net@b"})


@session("attr")
def option_of_a_library_set_below(s: Play) -> Truth:
    """The default font size of matplotlib is set below its reader, which ran last."""
    s.cells(
        "import matplotlib.pyplot as plt",
        "size = plt.rcParams['font.size']",
        "plt.rcParams['font.size'] = 20",
        "double = size * 2",
    )
    s.run("acbd")
    return Truth("cdcd", did="out_of_order", why={"b": "attr:plt.rcParams@c|name:plt@c", "d": "name:size@b"})


@session("attr")
def function_that_counts_on_itself(s: Play) -> Truth:
    """A function keeps a counter as its own attribute; the call runs twice."""
    s.cells("def f():\n    f.calls += 1\n    return f.calls\nf.calls = 0", "n = f()", "print(n)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:n@b", "b": "name:f@b|attr:f.calls@b"})
