"""Modules, files, packages, variables and values that change beside the cells."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.app.check import check_notebook_file
from jupyter_clusterbridge.app.text import check_lines


def test_a_module_edited_under_the_kernel_is_told_until_the_kernel_has_the_new_source(front: Any) -> None:
    one = front("import helper", "y = helper.f()", "import importlib\nimportlib.reload(helper);")
    module = one.path.parent / "helper.py"
    module.write_text("def f():\n    return 1\n")
    one.run("a", "b", "c")
    assert one.found("module_changed") == []
    module.write_text("def f():\n    return 22\n")
    stale = one.one("module_changed")
    assert stale.message.startswith(
        "the source of the module `helper` (helper.py) was changed, and the kernel still"
    )
    assert stale.message.endswith("; cell 2 used it")
    one.run("d")
    reloaded = one.one("module_changed")
    assert reloaded.message.endswith(
        "a reload put the new source in place at cell 3; cell 2 had run with the old one"
    )
    assert reloaded.remedy.startswith("run cell 2 again")
    one.run("c")
    assert one.one("module_changed").harmless


def test_autoreload_is_seen_at_the_cell_from_which_on_it_counts(front: Any) -> None:
    one = front("%load_ext autoreload\n%autoreload 2", "from helper import f", "y = f()", "z = f()")
    module = one.path.parent / "helper.py"
    module.write_text("def f():\n    return 1\n")
    one.run("a", "b", "c", "d")
    time.sleep(0.05)
    module.write_text("def f():\n    return 22\n")
    one.run("e")
    found = one.one("module_changed")
    assert "%autoreload put the new source in place at cell 4; cell 3 had run with the old one" in found.message
    assert one.live.execute("print(y, z)") == "1 22\n"


def test_a_module_edited_many_times_is_told_once_and_not_when_the_old_text_is_back(front: Any) -> None:
    one = front("%load_ext autoreload\n%autoreload 2", "import helper", "y = helper.f()", "z = helper.f()")
    module = one.path.parent / "helper.py"
    for number, cell in enumerate(("c", "d", "e", "e", "e")):
        module.write_text(f"def f():\n    return {number}\n")
        one.run(*("a", "b", "c", "d") if number == 0 else cell)
        time.sleep(0.02)
    assert one.one("module_changed").message.endswith("cell 3 had run with the old one")
    module.write_text("def f():\n    return 1\n")
    one.run("e")
    assert one.one("module_changed").harmless


def test_a_data_file_that_somebody_else_changed_is_told(front: Any) -> None:
    one = front("first = open('data.csv').read()", "second = open('data.csv').read()")
    data = one.path.parent / "data.csv"
    data.write_text("1\n")
    os.utime(data, (time.time() - 100, time.time() - 100))
    one.run("a", "b", "c")
    assert one.found("file_changed") == []
    time.sleep(0.1)
    data.write_text("2\n")
    time.sleep(0.1)
    assert one.one("file_changed").message == (
        "the file `data.csv` was changed after cells 1 and 2 had read it, by no cell"
    )
    one.run("c")
    changed = one.one("file_changed")
    assert changed.message == "the file `data.csv` was changed between cell 1 and cell 2, by no cell"
    assert changed.remedy.startswith("run cell 1 again")
    one.run("b")
    assert one.found("file_changed") == []


def test_a_file_that_the_notebook_itself_writes_is_no_changed_file(front: Any) -> None:
    one = front(
        "a = open('data.csv').read()", "open('data.csv', 'w').write('3');", "b = open('data.csv').read()",
        "!echo 4 > data.csv", "c = open('data.csv').read()",
    )  # fmt: skip
    (one.path.parent / "data.csv").write_text("1\n")
    one.run("a", "b", "c", "d", "e", "f")
    assert one.found("file_changed") == []


def test_what_a_cell_does_that_reloads_the_extension_is_kept(front: Any) -> None:
    one = front("import os\nos.environ['MODE'] = 'x'\nos.chdir('/')\n%reload_ext clusterbridge", "y = 1")
    one.run("a", "b", "c")
    assert one.found("failed_run") == []
    assert {found.kind.value for found in one.found(harmless=False)} == set()


def test_a_file_of_a_cell_that_somebody_else_edited_is_told_to_its_reader(front: Any) -> None:
    one = front("with open('labels.txt', 'w') as out:\n    out.write('cat')", "open('labels.txt').read()")
    one.run("a", "b", "c")
    assert one.found("file_changed") == []
    time.sleep(0.1)
    (one.path.parent / "labels.txt").write_text("cat,dog")
    time.sleep(0.1)
    one.run("c")
    message = "the file `labels.txt` was changed after cell 1 had written it and before cell 2 read it, by no cell"
    assert one.one("file_changed").message == message


def test_the_environment_and_the_folder_changed_between_cells_are_told(front: Any) -> None:
    one = front(
        """
        import os, threading, time
        def later():
            time.sleep(0.5)
            os.environ["MODE"] = "fast"
            os.chdir("/")
        threading.Thread(target=later).start()
        """,
        "mode = os.environ.get('MODE')",
    )
    one.run("a", "b")
    time.sleep(1)
    one.run("c")
    variable, folder = one.one("env_change"), one.one("cwd_change")
    assert variable.message.startswith("the environment variable `MODE` was changed after cell 1 and in no cell")
    assert folder.message.startswith("the working directory was changed after cell 1 and in no cell")


def test_the_environment_that_cells_of_the_file_set_is_no_alarm(front: Any) -> None:
    one = front("import os\nos.environ['MODE'] = 'x'", "%env OTHER=1", "mode = os.environ['MODE']")
    one.run("a", "b", "c", "d")
    assert one.found() == []


def test_a_variable_set_in_the_console_is_told(front: Any) -> None:
    one = front("import os", "mode = os.environ.get('MODE')")
    one.run("a", "b")
    one.live.execute("os.environ['MODE'] = 'x'")
    one.run("c")
    message = one.one("env_change").message
    assert message.startswith("the environment variable `MODE` was changed by a cell that is not in the file")
    one.live.execute("%cd -q /")
    assert one.one("cwd_change").harmless  # no cell has run since
    one.run("c")
    assert one.found("cwd_change", harmless=False)


def test_a_folder_that_a_cell_of_the_file_changes_is_no_alarm(front: Any) -> None:
    one = front(
        "import os\nos.makedirs('data', exist_ok=True)", "os.chdir('data')", "where = os.getcwd()", "%cd -q .."
    )
    one.run("a", "b", "c", "d", "e")
    assert one.found("cwd_change") == []


def test_a_value_set_in_the_console_over_that_of_a_cell_is_told_with_both(front: Any) -> None:
    one = front("lr = 0.1", "out = lr * 2")
    one.run("a", "b")
    one.live.execute("lr = 0.01")
    one.run("c")
    poke = one.one("edited_rerun")
    assert (
        poke.message == "code that is in no cell changed `lr = 0.1` to `0.01`, which cell 1 sets; cell 2 read it"
    )
    assert poke.remedy == "make it a parameter"
    assert one.found("deleted_cell_state") == []
    one.run("b", "c")
    assert one.found("edited_rerun") == []


def test_without_ids_the_same_things_are_told(front: Any) -> None:
    one = front("lr = 0.1", "name = input()", "raise ValueError", ids=False)
    one.run("a", "b")
    one.run("d")
    kinds = {found.kind.value for found in one.found()}
    assert "failed_run" in kinds


def make_wheel(folder: Path, version: str) -> Path:
    import zipfile

    path = folder / f"cbtoy-{version}-py3-none-any.whl"
    info = f"cbtoy-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("cbtoy.py", f"__version__ = '{version}'\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: cbtoy\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"cbtoy.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


def test_an_install_says_what_is_in_memory_and_what_is_installed(front: Any, tmp_path: Path) -> None:
    site = tmp_path / "packages"
    wheels = [make_wheel(tmp_path, "1.0"), make_wheel(tmp_path, "2.0")]
    install = f"!{sys.executable} -m pip install -q --no-index --no-deps --upgrade --target {site} "
    one = front(
        f"import sys\nsys.path.insert(0, {str(site)!r})",
        install + str(wheels[0]),
        "import cbtoy",
        f"!rm -r {site}/* && " + install[1:] + str(wheels[1]),
        "print(cbtoy.__version__)",
    )
    site.mkdir()
    one.run("a", "b", "c", "d", "e")
    assert one.run("f") == "1.0\n"
    first, second = one.found("install")
    assert "installed `cbtoy" in first.message
    assert "now installed: cbtoy 1.0" in first.message
    assert second.message.endswith("in memory is still cbtoy 1.0 (installed: 2.0)")
    assert second.remedy.startswith("restart the kernel")


def test_the_status_begins_with_the_gravest_and_leaves_the_harmless_out(front: Any) -> None:
    one = front("x = 1", "1 / 0", "lr = 0.1", "out = lr")
    one.run("a", "b", "b", "c", "d", "e")
    one.live.execute("lr = 0.01")
    one.run("e")
    lines = [line for line in check_lines(check_notebook_file(one.path), unsafe=False) if line[:1] != " "]
    told = [
        line.partition(":")[0]
        for line in lines
        if line.partition(":")[0] in ("edited rerun", "failed run", "rerun")
    ]
    assert told[0] == "edited rerun"
    assert "rerun" not in [line.partition(":")[0] for line in lines if "cell 1 ran" in line]
    assert told[-1] == "failed run"
