"""Two names, one object."""

from __future__ import annotations

from harness import Play, Truth, session


@session("alias")
def list_changed_through_its_other_name(s: Play) -> Truth:
    """A list is appended to through another name, twice; the reader uses the first name."""
    s.cells("xs = [1]\nys = xs", "ys.append(2)", "n = len(xs)")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "name:xs@b", "b": "name:ys@b"})


@session("alias")
def alias_made_in_another_cell(s: Play) -> Truth:
    """The alias is made two cells before it is used for a change that comes out of order."""
    s.cells("raw = {'a': 1}", "view = raw", "before = dict(raw)", "view['a'] = 5", "print(view)")
    s.run("abdce")
    return Truth("ccdcc", did="out_of_order", why={"c": "name:raw@d"})


@session("alias")
def view_of_an_array(s: Play) -> Truth:
    """A slice of an array is scaled twice; the sum is taken over the whole array."""
    s.cells("import numpy as np\na = np.ones(6)", "head = a[:3]", "head *= 2", "total = a.sum()")
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"d": "name:a@c", "c": "name:head@c"})


@session("alias")
def view_of_a_tensor(s: Play) -> Truth:
    """A view of a tensor is shifted twice."""
    s.cells("import torch\nw = torch.zeros(4)", "flat = w.view(2, 2)", "flat.add_(1)", "total = w.sum().item()")
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"d": "name:w@c", "c": "name:flat@c"})


@session("alias")
def list_held_in_a_dictionary(s: Play) -> Truth:
    """A dictionary holds a list that a cell grows by its own name; the reader goes through the dictionary."""
    s.cells("rows = []\nstore = {'rows': rows}", "rows.append(1)", "n = len(store['rows'])")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:rows@b", "c": "name:store@b"})


@session("alias")
def argument_changed_by_a_function(s: Play) -> Truth:
    """A function of the notebook changes its argument in place; the call runs twice."""
    s.cells("def grow(items):\n    items.append(len(items))", "data = [0]", "grow(data)", "size = len(data)")
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "name:data@c", "d": "name:data@c"})


@session("alias")
def parameters_shared_by_model_and_optimizer(s: Play) -> Truth:
    """The optimizer holds the model's parameters; a step too many changes what the model says."""
    s.cells(
        "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(2, 1)",
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)",
        "loss = model(torch.ones(3, 2)).pow(2).mean()\nopt.zero_grad()\nloss.backward()\nopt.step()",
        "out = model(torch.ones(1, 2)).item()",
    )
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "name:model@c", "d": "name:model@c"})


@session("alias")
def copy_is_no_alias(s: Play) -> Truth:
    """The copy is changed twice; who reads the original is as current as ever."""
    s.cells("xs = [3, 1]\nys = list(xs)", "ys.append(2)", "n = len(xs)", "m = len(ys)")
    s.run("abbcd")
    return Truth("cdcd", unsafe="b", did="rerun", why={"d": "name:ys@b"})


@session("alias")
def frame_taken_from_a_frame(s: Play) -> Truth:
    """pandas copies on write: a change of the selection does not reach the frame it was taken from."""
    s.cells(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3]})",
        "top = df[df['a'] > 1]\ntop = top.copy()",
        "top['a'] = top['a'] * 10",
        "whole = int(df['a'].sum())",
        "part = int(top['a'].sum())",
    )
    s.run("abccde")
    return Truth("ccdcd", unsafe="c", did="rerun", why={"e": "column:top.a@c"})
