"""Percent scripts: where cells begin, what of them is code, and lines and columns of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_clusterbridge.lint.sources.script import ScriptFile, is_percent_script
from jupyter_clusterbridge.model.errors import NotebookUnreadable
from jupyter_clusterbridge.model.findings import Edit

JUPYTEXT = """\
# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # Title
# os.listdir()

# %% tags=["parameters"]
lr = 0.1

# %%
# %matplotlib inline
# !ls
# a comment
x = 1
"""


def script(text: str | bytes) -> ScriptFile:
    return ScriptFile(text if isinstance(text, bytes) else text.encode(), Path("script.py"))


def cells(text: str | bytes) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source) for cell in script(text).notebook.cells]


def test_a_jupytext_script_gives_its_cells_with_tags_and_magics() -> None:
    read = script(JUPYTEXT)
    assert [(cell.kind, cell.tags) for cell in read.notebook.cells] == [
        ("markdown", ()),
        ("code", ("parameters",)),
        ("code", ()),
    ]
    assert read.notebook.cells[2].source == "%matplotlib inline\n!ls\n# a comment\nx = 1"


@pytest.mark.parametrize(
    ("marker", "kind"),
    [
        ("# %%", "code"),
        ("#%%", "code"),
        ("# %% Load the data", "code"),
        ("# %%% deeper", "code"),
        ("# %% [markdown]", "markdown"),
        ("# %% [md]", "markdown"),
        ("#%% [markdown]", "markdown"),
        ("# %% A title [raw]", "raw"),
        ('# %% cell_type="markdown"', "markdown"),
        ("# In[3]:", "code"),
        ("# In[ ]:", "code"),
        ("# <codecell>", "code"),
        ("# <markdowncell>", "markdown"),
    ],
)
def test_each_editor_s_marker_begins_a_cell(marker: str, kind: str) -> None:
    assert cells(f"# %%\na = 1\n\n{marker}\nb = 2\n") == [("code", "a = 1"), (kind, "b = 2")]


@pytest.mark.parametrize("line", ["x = 1  # %% of all", "# %%time", "    # %%", "# %%!x", "# In the end"])
def test_this_begins_no_cell(line: str) -> None:
    assert len(cells(f"# %%\na = 1\n{line}\nb = 2\n")) == 1


def test_code_above_the_first_marker_is_a_cell_and_comments_are_none() -> None:
    assert cells("import os\n# %%\na = 1\n") == [("code", "import os"), ("code", "a = 1")]
    assert cells("# about\n\n# %%\na = 1\n") == [("code", "a = 1")]


def test_a_marker_within_a_string_begins_no_cell() -> None:
    text = "# %%\nx = '''\n# %% no\n'''\n# %% [markdown]\n\"\"\"\n# title\n\"\"\"\n# %%\n!ls 'a\ny = 1\n"
    assert cells(text) == [
        ("code", "x = '''\n# %% no\n'''"),
        ("markdown", '"""\n# title\n"""'),
        ("code", "!ls 'a\ny = 1"),
    ]


def test_a_cell_in_another_language_is_its_cell_magic_in_files_of_jupytext() -> None:
    text = '# %% language="bash"\n# pip install x\n# %%\nx = 1\n'
    head = "# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb\n# ---\n"
    assert cells(head + text)[-2:] == [("code", "%%bash\npip install x"), ("code", "x = 1")]
    assert cells(text)[0] == ("code", "# pip install x")
    assert script(head + text).file_line(len(cells(head + text)) - 2, 2) == 7


def test_a_quote_that_never_ends_holds_no_marker() -> None:
    assert len(cells("# %%\nx = '''\n# %%\ny = 1\n")) == 2


def test_a_file_without_markers_is_one_cell() -> None:
    assert cells("import os\n\nprint(1)\n") == [("code", "import os\n\nprint(1)")]
    assert not is_percent_script("import os\n# done 100 %%\n")
    assert is_percent_script("import os\n#%%\n")


def test_only_files_of_jupytext_keep_magics_in_comments() -> None:
    assert cells("# %%\n# %time x\n") == [("code", "# %time x")]


def test_the_escaped_magics_of_an_export_are_magics() -> None:
    assert cells("# %%\n#!%matplotlib inline\n#!!ls\n") == [("code", "%matplotlib inline\n!ls")]


def test_a_line_of_a_cell_is_found_in_the_file() -> None:
    read = script(JUPYTEXT)
    lines = JUPYTEXT.split("\n")
    assert lines[read.file_line(2, 4) - 1] == "x = 1"
    assert lines[read.file_line(1, 1) - 1] == "lr = 0.1"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_an_edit_changes_nothing_else(newline: str, mark: bytes) -> None:
    content = mark + JUPYTEXT.replace("\n", newline).replace("x = 1", "ü = f(1)").encode()
    edited = script(content).edited({2: [Edit(4, 4, 4, 4, "g("), Edit(4, 8, 4, 8, ")")]})
    assert edited.content == content.replace(b"f(1)", b"g(f(1))")


def test_an_edit_of_a_commented_magic_lands_behind_the_mark() -> None:
    edited = script(JUPYTEXT).edited({2: [Edit(2, 1, 2, 3, "pwd")]})
    assert edited.content.decode() == JUPYTEXT.replace("# !ls", "# !pwd")


def test_a_declared_encoding_is_kept() -> None:
    content = "# -*- coding: latin-1 -*-\n# %%\nx = 'é'\n".encode("latin-1")
    read = script(content)
    assert read.notebook.cells[0].source == "x = 'é'"
    assert read.edited({0: [Edit(1, 0, 1, 1, "y")]}).content == content.replace(b"x =", b"y =")


@pytest.mark.parametrize("content", [b"x = '\xff'", b"# coding: klingon\n", b"\xff\xfe\x00"])
def test_bytes_that_are_no_python_source_are_refused(content: bytes) -> None:
    with pytest.raises(NotebookUnreadable, match="no Python source"):
        script(content)
