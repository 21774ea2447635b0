"""Flow over cells: which seeds a draw can rely on, and what never runs."""

from __future__ import annotations

import pytest
from lint_kit import Lint

DRAW = "x = random.random()"
CASES: dict[str, tuple[str, set[str]]] = {
    "a seed in the first cell counts for the fifth": (
        f"import random\nrandom.seed(0)\n# %%\na = 1\n# %%\nb = 1\n# %%\nc = 1\n# %%\n{DRAW}",
        set(),
    ),
    "no seed at all": (f"import random\n{DRAW}", {"CB101"}),
    "a seed after the first draw": (f"import random\n{DRAW}\n# %%\nrandom.seed(0)", {"CB105"}),
    "a seed below the draw in the same cell": (f"import random\n{DRAW}\nrandom.seed(0)", {"CB105"}),
    "a function that is never called": (
        f"import random\ndef seed_all():\n    random.seed(0)\n# %%\n{DRAW}",
        {"CB101", "CB106"},
    ),
    "a function that is called": (
        f"import random\ndef prepare():\n    random.seed(0)\n# %%\nprepare()\n# %%\n{DRAW}",
        set(),
    ),
    "a function that is called by another": (
        f"import random\ndef inner():\n    random.seed(0)\ndef outer():\n    inner()\nouter()\n# %%\n{DRAW}",
        set(),
    ),
    "a function that is called after the draw": (
        f"import random\ndef prepare():\n    random.seed(0)\n# %%\n{DRAW}\n# %%\nprepare()",
        {"CB105"},
    ),
    "a seed that never runs": (f"import random\nif False:\n    random.seed(0)\n{DRAW}", {"CB101"}),
    "a seed in a loop that never runs": (f"import random\nwhile 0:\n    random.seed(0)\n{DRAW}", {"CB101"}),
    "a call of the seeding function that never runs": (
        f"import random\ndef prepare():\n    random.seed(0)\nif 0:\n    prepare()\n{DRAW}",
        {"CB101"},
    ),
    "a seed in the branch that runs": (
        f"import random\nif False:\n    pass\nelse:\n    random.seed(0)\n{DRAW}",
        set(),
    ),
    "a seed that may run": (f"import random\nif fixed:\n    random.seed(0)\n{DRAW}\nfixed = 1", set()),
    "a draw that never runs": ("import random\nif False:\n    random.random()", set()),
    "a draw in a function, seeded before the call": (
        "import random\ndef draw():\n    return random.random()\n# %%\nrandom.seed(0)\n# %%\ndraw()",
        set(),
    ),
    "a draw in a function, seeded after the call": (
        "import random\ndef draw():\n    return random.random()\n# %%\ndraw()\n# %%\nrandom.seed(0)",
        {"CB105"},
    ),
    "a draw in a function that another calls, seeded after": (
        "import random\ndef draw():\n    random.random()\ndef main():\n    draw()\nmain()\n# %%\nrandom.seed(0)",
        {"CB105"},
    ),
    "a function that seeds and then draws": (
        "import random\ndef main():\n    random.seed(0)\n    random.random()\nmain()",
        set(),
    ),
    "a draw in a callback or a method, whose time cannot be seen": (
        "import random\ndef draw(i):\n    random.random()\nclass A:\n    def get(self):\n        random.random()\n"
        "a = A()\nhandler = draw\nrandom.seed(0)",
        set(),
    ),
    "a draw in a generator": (
        "import random\ndef draws():\n    yield random.random()\nd = draws()\nrandom.seed(0)",
        set(),
    ),
    "a seed in a class that is used": (
        f"import random\nclass Setup:\n    def __init__(self):\n        random.seed(0)\nSetup()\n# %%\n{DRAW}",
        set(),
    ),
    "a seed for workers alone": (
        "import random\nfrom torch.utils.data import DataLoader\ndef init(i):\n    random.seed(i)\n"
        f"DataLoader([1], worker_init_fn=init, timeout=9)\n{DRAW}",
        {"CB101"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_a_seed_counts_where_it_has_run_before_the_draw(text: str, expected: set[str], lint: Lint) -> None:
    assert {finding.code for finding in lint(text)} & {"CB101", "CB105", "CB106"} == expected


def test_a_password_is_found_in_code_that_never_runs_too(lint: Lint) -> None:
    assert [finding.code for finding in lint("if False:\n    connect(password='tr0ub4dor')")] == ["CB404"]
