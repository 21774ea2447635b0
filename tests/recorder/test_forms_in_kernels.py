"""Forms of cells in a real kernel, where a bare shell would act otherwise."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.app.check import check_notebook_file


def check(one):
    return check_notebook_file(one.path)


def states(one):
    return "".join(cell.state.value[0] for cell in check(one).cells)


def test_a_clean_run_of_every_form_raises_nothing(front):
    one = front(
        "import asyncio\nxs = []\nasync def add(i):\n    await asyncio.sleep(0)\n    xs.append(i)",
        "await asyncio.gather(add(1), add(2))",
        "%%time\ntotal = sum(xs)",
        "%%capture out\nprint(total)",
        "text = out.stdout",
        "%%bash\necho 5 > five.txt",
        "%%writefile local_helper.py\nk = 1",
        "import sys\nsys.path.insert(0, '')\nfrom local_helper import *\ny = k + int(open('five.txt').read())",
        "%run -i local_helper.py",
        "exec('z = k + 1')",
        "it = (i for i in range(4))\nfirst = next(it)",
        "rest = list(it)",
        "def counter(n=[0]):\n    n[0] += 1\n    return n[0]",
        "a = counter()\n%timeit -n 2 -r 1 sum(rest)",
        "files = !ls",
        "import threading\nt = threading.Thread(target=lambda: xs.append(3))\nt.start()\nt.join()",
        "print(len(xs), z, a, text, y)",
    )
    printed = one.run(*(cell.id for cell in one.live.notebook.cells))
    assert "Error" not in printed
    report = check(one)
    assert [(c.cell_index, c.reasons) for c in report.cells if c.state.value != "current"] == []
    assert [i for i in report.interventions if not i.harmless] == []


@pytest.mark.parametrize("end", ["raise SystemExit", "import sys\nsys.exit(1)", "1 / 0"])
def test_cells_below_the_end_of_a_clean_run_diverge(front, end):
    one = front("x = 1", end, "y = x")
    one.run("a", "b", "c", "d")
    assert states(one) == "cccd"
    assert "a clean run ends at cell 2" in check(one).cells[3].reasons[0].message


def test_the_magic_says_what_the_command_says(front):
    one = front("xs = []", "xs.append(1)", "n = len(xs)", "%clusterbridge check")
    printed = one.run("a", "b", "c", "c", "d", "e")
    assert "run cell 1 first, then this cell" in printed
    assert "`xs` had been changed by an earlier run of this cell" in printed


def test_a_front_end_without_ids_gets_the_same_answers(front):
    one = front("xs = []", "xs.append(1)", "n = len(xs)", ids=False)
    one.run("a", "b", "c", "c", "d")
    one.live.notebook.cells[1].source += "\nxs.append(0)"
    import nbformat

    nbformat.write(one.live.notebook, one.path)
    report = check(one)
    assert [cell.state.value for cell in report.cells][2:] == ["diverged", "diverged"]
