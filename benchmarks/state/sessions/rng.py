"""Random streams."""

from __future__ import annotations

from harness import Play, Truth, session


@session("rng")
def numpy_draw_twice(s: Play) -> Truth:
    """A drawing cell runs twice, so everything drawn after it is shifted."""
    s.cells("import numpy as np\nnp.random.seed(0)", "x = np.random.rand(2)", "y = np.random.rand(2)")
    s.run("abbc")
    return Truth("cdd", did="rerun", why={"b": "rng:numpy@b", "c": "rng:numpy@b"})


@session("rng")
def python_draw_in_a_deleted_cell(s: Play) -> Truth:
    """A deleted cell drew a number; the numbers below would be others without it."""
    s.cells("import random\nrandom.seed(1)", "random.random()", "pick = random.choice('abc')")
    s.run()
    s.delete("b")
    return Truth("cd", did="deleted_cell_state", why={"c": "rng:python@b"})


@session("rng")
def torch_draw_in_the_console(s: Play) -> Truth:
    """A person looks at a random tensor in the console; the weights below come out of a shifted stream."""
    s.cells("import torch\ntorch.manual_seed(0)", "layer = torch.nn.Linear(2, 2)", "w = layer.weight.sum().item()")
    s.run("a")
    s.console("torch.rand(3)")
    s.run("bc")
    return Truth("cdd", did="deleted_cell_state", why={"b": "rng:torch@-", "c": "name:layer@b"})


@session("rng")
def seed_edited_but_not_what_drew(s: Play) -> Truth:
    """Another seed is set and run, the drawing cell is not."""
    s.cells("import numpy as np\nnp.random.seed(0)", "x = np.random.rand()", "print(x)")
    s.run()
    s.edit("a", "import numpy as np\nnp.random.seed(1)")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "rng:numpy@a", "c": "name:x@b"})


@session("rng")
def seed_below_the_first_draw(s: Play) -> Truth:
    """The seed stands below the draw and was run before it."""
    s.cells("import random", "x = random.random()", "random.seed(3)")
    s.run("acb")
    return Truth("cdc", did="out_of_order", why={"b": "rng:python@c"})


@session("rng")
def skipped_draw(s: Play) -> Truth:
    """A drawing cell that a clean run runs was left out here after it ran once in another kernel."""
    s.cells("import random\nrandom.seed(0)", "a1 = random.random()", "b1 = random.random()")
    s.run()
    s.restart()
    s.run("ac")
    return Truth("ccd", did="kernel_restart", may="rerun", why={"c": "rng:python@a"})


@session("rng")
def generator_object_drawn_twice(s: Play) -> Truth:
    """A generator of NumPy is an object of its own; a draw from it runs twice."""
    s.cells(
        "import numpy as np\nrng = np.random.default_rng(0)", "x = rng.normal(size=3)", "y = rng.normal(size=3)"
    )
    s.run("abbc")
    return Truth("cdd", unsafe="bc", did="rerun", why={"b": "name:rng@b", "c": "name:rng@b"})


@session("rng")
def torch_generator_drawn_twice(s: Play) -> Truth:
    """The same with a generator of torch."""
    s.cells(
        "import torch\ng = torch.Generator().manual_seed(0)",
        "i = torch.randperm(5, generator=g)",
        "j = torch.randperm(5, generator=g)",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="bc", did="rerun", why={"b": "name:g@b", "c": "name:g@b"})


@session("rng")
def list_shuffled_twice(s: Play) -> Truth:
    """A list is shuffled in place twice."""
    s.cells("import random\nrandom.seed(0)\nxs = list(range(9))", "random.shuffle(xs)", "train = xs[:6]")
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:xs@b", "c": "name:xs@b"})


@session("rng")
def split_after_a_shifted_stream(s: Play) -> Truth:
    """A split without ``random_state`` draws from NumPy's stream, which a repeated cell has shifted."""
    s.cells(
        "import numpy as np\nfrom sklearn.model_selection import train_test_split\nnp.random.seed(0)",
        "X = np.random.rand(20, 2)",
        "tr, te = train_test_split(np.arange(20))",
        "first = int(te[0])",
    )
    s.run("abbcd")
    return Truth("cddd", did="rerun", why={"b": "rng:numpy@b", "c": "rng:numpy@b", "d": "name:te@c"})


@session("rng")
def loader_iterated_twice(s: Play) -> Truth:
    """A shuffling loader is looked at twice before training: the order of the batches has moved on."""
    s.cells(
        "import torch\nfrom torch.utils.data import DataLoader\ntorch.manual_seed(0)",
        "loader = DataLoader(list(range(8)), batch_size=4, shuffle=True)",
        "first = next(iter(loader))",
        "order = torch.cat(list(loader)).tolist()",
    )
    s.run("abccd")
    return Truth("ccdd", did="rerun", why={"c": "rng:torch@c", "d": "rng:torch@c"})


@session("rng")
def dropout_draws_in_a_forward_pass(s: Play) -> Truth:
    """A forward pass in training mode draws from torch's stream; it runs twice."""
    s.cells(
        "import torch\ntorch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))",
        "with torch.no_grad():\n    peek = net(torch.ones(1, 4))",
        "with torch.no_grad():\n    out = net(torch.ones(1, 4)).sum().item()",
    )
    s.run("abbc")
    return Truth("cdd", did="rerun", why={"b": "rng:torch@b", "c": "rng:torch@b"})


@session("rng")
def table_sampled_twice(s: Play) -> Truth:
    """``sample`` of pandas draws from NumPy's stream; the rows below are others."""
    s.cells(
        "import numpy as np, pandas as pd\nnp.random.seed(0)\ndf = pd.DataFrame({'a': range(10)})",
        "df.sample(3)",
        "part = df.sample(4)",
        "ids = part.index.tolist()",
    )
    s.run("abbcd")
    return Truth("cddd", did="rerun", why={"c": "rng:numpy@b", "d": "name:part@c|column:part.index@c"})
