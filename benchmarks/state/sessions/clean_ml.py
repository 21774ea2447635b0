"""Clean sessions with scikit-learn and torch."""

from __future__ import annotations

from harness import Play, Truth, session

BLOBS = "import numpy as np\nrng = np.random.default_rng(0)\nX = rng.normal(size=(60, 3))\ny = (X[:, 0] > 0).astype(int)"
NET = (
    "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
    "model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))"
)
DATA = "X = torch.randn(32, 3)\nt = X.sum(1, keepdim=True)"
OPTIMIZER = "opt = torch.optim.Adam(model.parameters(), lr=0.01)\nloss_fn = nn.MSELoss()"
LOOP = (
    "model.train()\nfor epoch in range(3):\n    opt.zero_grad()\n    loss = loss_fn(model(X), t)\n"
    "    loss.backward()\n    opt.step()"
)
MEASURE = "model.eval()\nwith torch.no_grad():\n    final = loss_fn(model(X), t).item()\nprint(final)"


@session("clean")
def fit_and_predict(s: Play) -> Truth:
    """Split, fit, predict, score."""
    s.cells(
        BLOBS,
        "from sklearn.model_selection import train_test_split\n"
        "Xa, Xb, ya, yb = train_test_split(X, y, random_state=0)",
        "from sklearn.linear_model import LogisticRegression\nclf = LogisticRegression()",
        "clf.fit(Xa, ya)",
        "pred = clf.predict(Xb)",
        "score = clf.score(Xb, yb)\nprint(score)",
    )
    s.run()
    return Truth("cccccc")


@session("clean")
def fit_run_again(s: Play) -> Truth:
    """fit starts anew each time; predictions are looked at in between."""
    s.cells(
        BLOBS,
        "from sklearn.ensemble import RandomForestClassifier\nforest = RandomForestClassifier(n_estimators=5, random_state=0)",
        "forest.fit(X, y)",
        "pred = forest.predict(X)",
        "forest.feature_importances_",
    )
    s.run("abcdecdede")
    return Truth("ccccc", did="rerun")


@session("clean")
def scaler_and_pipeline(s: Play) -> Truth:
    """A scaler is fitted and applied, a pipeline is cross-validated."""
    s.cells(
        BLOBS,
        "from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler()\nZ = scaler.fit_transform(X)",
        "from sklearn.pipeline import make_pipeline\nfrom sklearn.svm import SVC\npipe = make_pipeline(StandardScaler(), SVC())",
        "from sklearn.model_selection import cross_val_score\nscores = cross_val_score(pipe, X, y, cv=3)",
        "pipe.fit(Z, y)\nacc = pipe.score(Z, y)",
        "print(scores.mean(), acc)",
    )
    s.run("abcdefef")
    return Truth("cccccc", did="rerun")


@session("clean")
def search_over_parameters(s: Play) -> Truth:
    """A grid search and its best estimator."""
    s.cells(
        BLOBS,
        "from sklearn.model_selection import GridSearchCV\nfrom sklearn.tree import DecisionTreeClassifier\n"
        "search = GridSearchCV(DecisionTreeClassifier(random_state=0), {'max_depth': [1, 2]}, cv=3)",
        "search.fit(X, y)",
        "best = search.best_estimator_",
        "best.predict(X[:2])",
    )
    s.run()
    return Truth("ccccc")


@session("clean")
def training_over_several_cells(s: Play) -> Truth:
    """Model, data, optimizer, loop and measurement in cells of their own, from top to bottom."""
    s.cells(NET, DATA, OPTIMIZER, LOOP, MEASURE)
    s.run()
    return Truth("ccccc", unsafe="d")


@session("clean")
def measured_twice(s: Play) -> Truth:
    """The measuring cell sets eval mode and runs again: nothing changes."""
    s.cells(NET, DATA, OPTIMIZER, LOOP, MEASURE, "print(round(final, 3))")
    s.run("abcdeefef")
    return Truth("cccccc", unsafe="d", did="rerun")


@session("clean")
def mode_set_in_cells_of_their_own(s: Play) -> Truth:
    """train() and eval() stand alone; setting a mode again sets the same."""
    s.cells(
        NET,
        DATA,
        "model.eval()",
        "with torch.no_grad():\n    first = model(X).mean().item()",
        "model.train()",
        "n = sum(p.numel() for p in model.parameters())",
    )
    s.run()
    return Truth("cccccc")


@session("clean")
def training_function_called_once(s: Play) -> Truth:
    """The loop is a function with the model as argument."""
    s.cells(
        NET,
        DATA,
        "def train(net, steps):\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    net.train()\n"
        "    losses = []\n    for _ in range(steps):\n        opt.zero_grad()\n        loss = ((net(X) - t) ** 2).mean()\n"
        "        loss.backward()\n        opt.step()\n        losses.append(loss.item())\n    return losses",
        "losses = train(model, 3)",
        "print(losses[-1])",
    )
    s.run()
    return Truth("ccccc", unsafe="d")


@session("clean")
def trained_again_from_the_start(s: Play) -> Truth:
    """The person runs the model cell and all below it again, as a whole."""
    s.cells(NET, DATA, OPTIMIZER, LOOP, MEASURE)
    s.run()
    s.run()
    return Truth("ccccc", unsafe="d", did="rerun")


@session("clean")
def loader_and_epochs(s: Play) -> Truth:
    """A DataLoader with shuffling, seeded at the top, one training cell."""
    s.cells(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\ntorch.manual_seed(0)",
        "ds = TensorDataset(torch.randn(32, 3), torch.randn(32, 1))\nloader = DataLoader(ds, batch_size=8, shuffle=True)",
        "model = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)",
        "history = []\nfor epoch in range(2):\n    for x, t in loader:\n        loss = ((model(x) - t) ** 2).mean()\n"
        "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n    history.append(loss.item())",
        "print(history)",
    )
    s.run()
    return Truth("ccccc", unsafe="d")


@session("clean")
def checkpoint_saved_and_loaded(s: Play) -> Truth:
    """Weights are saved, loaded into a second model and compared."""
    s.cells(
        NET,
        "torch.save(model.state_dict(), 'w.pt')",
        "import copy\nother = copy.deepcopy(model)\nother.load_state_dict(torch.load('w.pt'))",
        "same = all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters()))",
    )
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def frozen_layers(s: Play) -> Truth:
    """requires_grad is turned off for a part of the model, twice."""
    s.cells(
        NET,
        "for p in model[0].parameters():\n    p.requires_grad = False",
        "free = [p for p in model.parameters() if p.requires_grad]",
        "len(free)",
    )
    s.run("abbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def seeded_cell_run_again(s: Play) -> Truth:
    """A cell that seeds and draws runs again and draws the same."""
    s.cells(
        "import numpy as np",
        "np.random.seed(0)\nx = np.random.rand(3)",
        "total = x.sum()",
    )
    s.run("abbcbc")
    return Truth("ccc", did="rerun")


@session("clean")
def tensors_without_training(s: Play) -> Truth:
    """Tensor algebra into new names; gradients are taken once."""
    s.cells(
        "import torch\nw = torch.ones(3, requires_grad=True)",
        "z = (w * torch.arange(3.0)).sum()",
        "g = torch.autograd.grad(z, w, retain_graph=True)[0]",
        "norm = g.norm().item()",
    )
    s.run("abcdcd")
    return Truth("cccc", did="rerun")


@session("clean")
def inference_over_a_list_of_batches(s: Play) -> Truth:
    """Batches go through a model in eval mode, and the results into a new list."""
    s.cells(
        NET + "\nmodel.eval()",
        "batches = [torch.ones(2, 3) * i for i in range(3)]",
        "outs = []\nwith torch.inference_mode():\n    for b in batches:\n        outs.append(model(b))",
        "stack = torch.cat(outs).mean().item()",
    )
    s.run("abcdcd")
    return Truth("cccc", did="rerun")
