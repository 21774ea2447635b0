"""Which local modules and files go into a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_clusterbridge.runtime.bundle import read_bundle


def shipped(bundle: Path) -> list[str]:
    return sorted(path.relative_to(bundle / "project").as_posix() for path in (bundle / "project").rglob("*.*"))


def fill(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("import helper", ["helper.py", "inner.py"]),
        ("from helper import x", ["helper.py", "inner.py"]),
        ("%run helper.py --fast", ["helper.py", "inner.py"]),
        ("%run helper", ["helper.py", "inner.py"]),
        ("%load_ext helper", ["helper.py", "inner.py"]),
        ("!python helper.py", ["helper.py", "inner.py"]),
        ("%%bash\npython helper.py", ["helper.py", "inner.py"]),
        ("import importlib\nimportlib.import_module('helper')", ["helper.py", "inner.py"]),
        ("import sys\nsys.path.append('lib')\nimport deep", ["lib/deep.py"]),
        ("import pkg.part", ["pkg/__init__.py", "pkg/part.py", "pkg/table.csv"]),
        ("from space import mod", ["space/mod.py"]),
        ("open('data.csv')", ["data.csv"]),
        ("pd.read_csv('sub/more.csv')", ["sub/more.csv"]),
        ("P = 'sub'\nnp.load(f'{P}/more.csv')", ["sub/more.csv"]),
        ("from pathlib import Path\n(Path('sub') / 'more.csv').read_text()", ["sub/more.csv"]),
        ("import os\nopen(os.path.join('sub', 'more.csv'))", ["sub/more.csv"]),
        ("for name in ['data.csv', 'sub/more.csv']:\n    open(name)", ["data.csv", "sub/more.csv"]),
        ("import os\nos.listdir('sub')", ["sub/more.csv", "sub/rest.csv"]),
        ("import glob\nglob.glob('sub/m*.csv')", ["sub/more.csv"]),
        ("from pathlib import Path\nlist(Path('sub').glob('*.csv'))", ["sub/more.csv", "sub/rest.csv"]),
        ("%cd sub\nopen('more.csv')", ["sub/more.csv"]),
        ("%run other.ipynb", ["helper.py", "inner.py", "other.ipynb"]),
        ("df.to_csv('data.csv')", []),
        ("open('data.csv', 'w')", []),
        ("torch.save(m, 'data.csv')\ntorch.load('data.csv')", []),
        ("OUT = 'data.csv'\ntorch.save(m, OUT)", []),
        ("cb.artifact('data.csv')", []),
        ("df = pd.read_csv('data.csv')\ndf.to_csv('data.csv')", ["data.csv"]),
        ("open('/etc/hostname')", []),
        ("import numpy", []),
    ],
)
def test_what_the_text_names_is_shipped(make_notebook: Any, export: Any, cell: str, expected: list[str]) -> None:
    path = make_notebook(cell)
    fill(
        path.parent,
        helper_dot_py="import inner\nx = 1\n",
        inner_dot_py="",
        lib__deep_dot_py="",
        space__mod_dot_py="",
        data_dot_csv="1",
        sub__more_dot_csv="2",
        sub__rest_dot_csv="3",
        other_dot_ipynb='{"cells":[{"cell_type":"code","source":"import helper","metadata":{},"outputs":[],'
        '"execution_count":4}],"metadata":{},"nbformat":4,"nbformat_minor":4}',
    )
    fill(path.parent / "pkg", part_dot_py="", table_dot_csv="9")
    (path.parent / "pkg" / "__init__.py").write_text("from . import part")
    assert shipped(export(path).folder) == expected


def test_secrets_and_litter_are_never_shipped_and_the_person_is_told(make_notebook: Any, export: Any) -> None:
    path = make_notebook("import pkg\nopen('.env')\nopen('keys/server.pem')")
    fill(path.parent, keys__server_dot_pem="s")
    (path.parent / ".env").write_text("TOKEN=1")
    fill(path.parent / "pkg" / "__pycache__", x_dot_pyc="")
    (path.parent / "pkg" / "__init__.py").write_text("")
    (path.parent / "pkg" / "id_rsa").write_text("")
    bundle = export(path)
    assert shipped(bundle.folder) == ["pkg/__init__.py"]
    assert [warning.split(" looks")[0] for warning in bundle.warnings] == [".env", "keys/server.pem"]
    assert read_bundle(bundle.folder).data == ()


def test_a_large_file_is_declared_and_not_shipped(
    make_notebook: Any, export: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_clusterbridge.export.data.LARGEST_FILE", 10)
    path = make_notebook("open('big.csv')\nopen('small.csv')")
    fill(path.parent, big_dot_csv="x" * 11, small_dot_csv="y")
    bundle = export(path)
    assert shipped(bundle.folder) == ["small.csv"]
    assert [(file.path, file.size) for file in bundle.manifest.data] == [("big.csv", 11), ("small.csv", 1)]
    assert "too large" in bundle.warnings[0]


def test_the_whole_project_has_a_limit(make_notebook: Any, export: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_clusterbridge.export.data.LARGEST_PROJECT", 10)
    path = make_notebook("open('a.csv')\nopen('b.csv')")
    fill(path.parent, a_dot_csv="x" * 6, b_dot_csv="y" * 6)
    assert shipped(export(path).folder) == ["a.csv"]


def test_a_file_beside_the_folder_is_declared_as_the_text_names_it(make_notebook: Any, export: Any) -> None:
    path = make_notebook("open('../beside/x.csv')")
    fill(path.parent.parent / "beside", x_dot_csv="1")
    bundle = export(path)
    assert [file.path for file in bundle.manifest.data] == ["../beside/x.csv"]
    assert not (bundle.folder / "project").exists()


def test_data_and_code_have_digests_of_their_own(make_notebook: Any, export: Any, tmp_path: Path) -> None:
    path = make_notebook("import helper\nopen('data.csv')")
    fill(path.parent, helper_dot_py="x = 1", data_dot_csv="1")
    first = export(path, tmp_path / "one").manifest.identity
    fill(path.parent, data_dot_csv="2")
    second = export(path, tmp_path / "two").manifest.identity
    fill(path.parent, helper_dot_py="x = 2")
    third = export(path, tmp_path / "three").manifest.identity
    assert (first.code, second.code) == (second.code, first.code)
    assert first.data != second.data
    assert second.data == third.data
    assert second.code != third.code
