"""Files that one cell writes and another reads."""

from __future__ import annotations

from harness import Play, Truth, session


@session("file")
def file_written_anew_but_not_read_anew(s: Play) -> Truth:
    """The cell that writes a file is edited and run, the one that read it is not."""
    s.cells("with open('w.txt', 'w') as f:\n    f.write('1')", "w = float(open('w.txt').read())", "print('x')")
    s.run()
    s.edit("a", "with open('w.txt', 'w') as f:\n    f.write('2')")
    s.run("a")
    return Truth("cdc", did="edited_rerun", why={"b": "file:w.txt@a"})


@session("file")
def file_overwritten_by_a_cell_below(s: Play) -> Truth:
    """A cell below overwrites the file and ran before the reader."""
    s.cells(
        "from pathlib import Path\nPath('mode.txt').write_text('train')",
        "mode = Path('mode.txt').read_text()",
        "Path('mode.txt').write_text('test')",
    )
    s.run("acb")
    return Truth("cdc", did="out_of_order", why={"b": "file:mode.txt@c"})


@session("file")
def log_appended_twice(s: Play) -> Truth:
    """A cell appends a line to a log that another cell began; it runs twice."""
    s.cells(
        "with open('log.txt', 'w') as f:\n    f.write('head\\n')",
        "with open('log.txt', 'a') as f:\n    f.write('row\\n')",
        "rows = open('log.txt').read().splitlines()",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"c": "file:log.txt@b"})


@session("file")
def table_written_anew_but_not_read_anew(s: Play) -> Truth:
    """pandas writes a table; the writer is edited and run, the reader is not."""
    s.cells(
        "import pandas as pd\npd.DataFrame({'a': [1, 2]}).to_csv('t.csv', index=False)",
        "t = pd.read_csv('t.csv')",
        "total = int(t['a'].sum())",
    )
    s.run()
    s.edit("a", "import pandas as pd\npd.DataFrame({'a': [1, 2, 3]}).to_csv('t.csv', index=False)")
    s.run("a")
    return Truth("cdd", did="edited_rerun", why={"b": "file:t.csv@a", "c": "column:t.a@b|name:t@b"})


@session("file")
def array_saved_by_a_skipped_cell(s: Play) -> Truth:
    """A cell that would overwrite the file was never run, so the reader has the first version."""
    s.cells(
        "import numpy as np\nnp.save('x.npy', np.zeros(3))",
        "with open('x.npy', 'wb') as f:\n    np.save(f, np.ones(3))",
        "x = np.load('x.npy')",
    )
    s.run("abc")
    s.edit("b", "with open('x.npy', 'wb') as f:\n    np.save(f, np.full(3, 2.0))")
    return Truth("ced", why={"c": "file:x.npy@b"})


@session("file")
def file_of_a_deleted_cell(s: Play) -> Truth:
    """The cell that wrote the file is gone; the file is still read."""
    s.cells(
        "import json\njson.dump({'k': 1}, open('conf.json', 'w'))",
        "import json\nconf = json.load(open('conf.json'))",
    )
    s.run()
    s.delete("a")
    return Truth("d", did="deleted_cell_state", why={"b": "file:conf.json@a"})


@session("file")
def checkpoint_of_a_model_trained_twice(s: Play) -> Truth:
    """Training runs twice and saves; what is loaded was trained twice."""
    s.cells(
        "import torch\ntorch.manual_seed(1)\nmodel = torch.nn.Linear(2, 1)",
        "with torch.no_grad():\n    model.weight.mul_(0.5)\ntorch.save(model.state_dict(), 'm.pt')",
        "state = torch.load('m.pt')",
    )
    s.run("abbc")
    return Truth("cdd", unsafe="b", did="rerun", why={"b": "name:model@b", "c": "file:m.pt@b"})


@session("file")
def file_left_from_before_the_restart(s: Play) -> Truth:
    """After a restart only the reader runs; the file on disk is what the writer writes, so the reader is current."""
    s.cells("open('w.txt', 'w').write('1')", "w = open('w.txt').read()")
    s.run()
    s.restart()
    s.run("b")
    return Truth("cc", did="kernel_restart", may="rerun")


@session("file")
def file_changed_by_hand_between_writer_and_reader(s: Play) -> Truth:
    """A person edits the file that a cell wrote, then the reader runs."""
    s.cells(
        "open('labels.txt', 'w').write('cat,dog')", "labels = open('labels.txt').read().split(',')", "len(labels)"
    )
    s.run("a")
    s.write("labels.txt", "cat,dog,bird")
    s.run("bc")
    return Truth("cdd", did="file_changed", why={"b": "file:labels.txt@-|file:labels.txt@a"})


@session("file")
def data_changed_between_two_readers(s: Play) -> Truth:
    """The data file is replaced after the first cell read it; the second cell read the new one."""
    s.write("data.csv", "a\n1\n2\n")
    s.cells("rows = open('data.csv').read().split()", "n = len(rows)", "again = open('data.csv').read().split()")
    s.run("ab")
    s.write("data.csv", "a\n1\n2\n3\n4\n")
    s.run("c")
    # a clean run gives a the new data
    return Truth("ddc", did="file_changed", why={"a": "file:data.csv@-"})


@session("file")
def file_written_by_a_function_twice_from_itself(s: Play) -> Truth:
    """A function reads a counter file, adds one, and writes it back; the call runs twice."""
    s.write("count.txt", "0")
    s.cells(
        "def bump():\n    n = int(open('count.txt').read()) + 1\n    open('count.txt', 'w').write(str(n))",
        "open('count.txt', 'w').write('0')",
        "bump()",
        "n = int(open('count.txt').read())",
    )
    s.run("abccd")
    return Truth("ccdd", unsafe="c", did="rerun", why={"c": "file:count.txt@c", "d": "file:count.txt@c"})
