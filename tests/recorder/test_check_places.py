"""The working directory and the sources of local modules as locations."""

from __future__ import annotations

import importlib
import os
import sys
import time

import pytest

OLD = "def f(x):\n    return x + 1\n"
NEW = "def f(x):\n    # repaired\n    return x + 100\n"


@pytest.fixture
def folders(tmp_path):
    for name, text in (("one", "1"), ("two", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.txt").write_text(text)
    (tmp_path / "data.txt").write_text("0")
    time.sleep(0.03)
    return tmp_path


def test_a_relative_path_reads_the_working_directory(bench, folders):
    one = bench("import os", "text = open('data.txt').read()", "os.chdir('one')").run(*"acb")
    assert one.states() == "cdc"
    assert one.cell("b").reasons[0].message.startswith("the working directory was set by cell 2 below")


def test_an_absolute_path_does_not(bench, folders):
    one = bench("import os", f"text = open({str(folders / 'data.txt')!r}).read()", "os.chdir('one')").run(*"acb")
    assert one.states() == "ccc"


def test_a_relative_step_accumulates_and_an_absolute_one_does_not(bench, folders):
    os.makedirs("deep/deep")
    one = bench("import os", "os.chdir('deep')", "here = os.getcwd()").run(*"abbc")
    assert one.states() == "cdd"
    assert one.cell("b").unsafe_to_rerun
    os.chdir(folders)
    one = bench("import os", f"os.chdir({str(folders / 'one')!r})", "here = os.getcwd()").run(*"abbc")
    assert one.states() == "ccc"
    assert not one.cell("b").unsafe_to_rerun


def test_a_clean_run_that_changes_the_folder_raises_nothing(bench, folders):
    one = bench(
        "import os\nos.chdir('one')",
        "text = open('data.txt').read()",
        "%cd -q ../two",
        "t = open('data.txt').read()",
    )
    assert one.run("*").states() == "cccc"
    assert one.shell.user_ns["t"] == "2"


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "cb_tools.py"
    path.write_text(OLD)
    time.sleep(0.03)
    yield path
    for name in ("cb_tools", "cb_more"):
        sys.modules.pop(name, None)


def repair(path):
    time.sleep(0.03)
    path.write_text(NEW)
    time.sleep(0.03)
    importlib.invalidate_caches()


@pytest.mark.parametrize(
    ("load", "use"), [("import cb_tools", "y = cb_tools.f(1)"), ("from cb_tools import f", "y = f(1)")]
)
def test_a_module_repaired_after_its_use_diverges_the_user_and_what_comes_of_it(bench, module, load, use):
    one = bench(load, use, "print(y)", "print('later')").run(*"abc")
    assert one.states() == "cccn"
    repair(module)
    assert one.run("d").states() == "cddc"
    reason = one.cell("b").reasons[0]
    assert (reason.kind, reason.name) == ("module", "cb_tools")
    assert reason.message == "the source of the module `cb_tools` has changed since this cell used it"
    assert "restart the kernel" in reason.remedy


def test_a_reloaded_module_is_new_for_those_who_run_after(bench, module):
    one = bench(
        "import importlib, cb_tools", "y = cb_tools.f(1)", "importlib.reload(cb_tools)", "z = cb_tools.f(2)"
    )
    one.run(*"ab")
    repair(module)
    assert one.run(*"cd").states()[1::2] == "dc"
    assert one.run("b").states()[1::2] == "cc"


def test_a_module_that_another_module_uses_counts_too(bench, module, tmp_path):
    (tmp_path / "cb_more.py").write_text("from cb_tools import f\ndef g(x):\n    return f(x)\n")
    one = bench("import cb_more", "y = cb_more.g(1)", "print('later')").run(*"ab")
    repair(module)
    assert one.run("c").states() == "cdc"


def test_a_module_saved_without_a_change_is_no_change(bench, module):
    one = bench("import cb_tools", "y = cb_tools.f(1)", "print('later')").run(*"ab")
    time.sleep(0.03)
    module.write_text(OLD)
    assert one.run("c").states() == "ccc"


def test_a_cell_that_imports_a_local_module_and_uses_it_may_run_again(bench, folders, monkeypatch):
    monkeypatch.syspath_prepend(str(folders))
    monkeypatch.delitem(sys.modules, "local_style", raising=False)
    (folders / "local_style.py").write_text("def settle(name):\n    pass\n")
    one = bench("import local_style\nlocal_style.settle('dark')", "y = 1").run(*"aba")
    assert one.states() == "cc"
    assert not one.cell("a").unsafe_to_rerun


def test_a_function_of_the_random_stream_is_no_state_of_its_own(bench):
    one = bench("from random import randrange", "x = randrange(3)").run("*")
    assert not one.cell("b").unsafe_to_rerun
