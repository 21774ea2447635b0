"""Installs and edits in words."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.recorder.edits import describe_edit
from jupyter_clusterbridge.recorder.installs import find_installs


@pytest.mark.parametrize(
    ("source", "tool", "packages"),
    [
        ("%pip install -q rich==13.0 'numpy>=2'", "%pip install", ("rich==13.0", "numpy>=2")),
        ("!pip install torch --index-url https://user:pw@x/simple", "!pip install", ("torch",)),
        ("!uv pip install a[b] c", "!uv pip install", ("a[b]", "c")),
        ("%conda install -c conda-forge -y scipy", "%conda install", ("scipy",)),
        ("!python -m pip install -r requirements.txt x", "!pip install", ("x",)),
        ("!{sys.executable} -m pip install x", "!pip install", ("x",)),
        ("!apt-get update && pip install y", "!pip install", ("y",)),
        ("%pip install git+https://t0ken@host/me/tool.git@v1#egg=tool", "%pip install", ("tool",)),
        ("%pip install -e ../mine", "%pip install", ("mine",)),
        ("import os\nos.system('pip install -q z')", "pip install", ("z",)),
        ("subprocess.run([sys.executable, '-m', 'pip', 'install', 'a', 'b==1'])", "pip install", ("a", "b==1")),
        ("subprocess.check_call(f'{sys.executable} -m pip install {x} c', shell=True)", "pip install", ("c",)),
        ("get_ipython().run_line_magic('pip', 'install z')", "pip install", ("z",)),
        ("%%bash\nset -e\npip install z", "pip install", ("z",)),
    ],
)
def test_installs_are_found_with_their_packages_and_without_secrets(source, tool, packages):
    (install,) = find_installs(source)
    assert (install.tool, install.packages) == (tool, packages)


@pytest.mark.parametrize(
    "source",
    [
        "x = 'pip install y'",
        "%pip list",
        "!ls install",
        "install = 1",
        "!git add x",
        "os.system('ls install')",
        "pip.install(x)",
    ],
)
def test_what_is_no_install_is_left_alone(source):
    assert find_installs(source) == ()


@pytest.mark.parametrize(
    ("before", "after", "text", "remedy"),
    [
        ("lr = 0.1", "lr = 0.01", "`lr = 0.1` to `0.01`", "make it a parameter"),
        ("a = 1\nb = 'x'", "a = 2\nb = 'y'", "`a = 1` to `2` and `b = 'x'` to `'y'`", "make them parameters"),
        ("x = f()", "x = g()", "`x = f()` to `x = g()`", None),
        ("x = 1", "x = 1\ny = x", "(added `y = x`)", None),
        ("x = 1\ny = x", "x = 1", "(removed `y = x`)", None),
    ],
)
def test_edits_are_told_in_words(before, after, text, remedy):
    told, what_next = describe_edit(before, after)
    assert told == text
    assert remedy is None or what_next == remedy
