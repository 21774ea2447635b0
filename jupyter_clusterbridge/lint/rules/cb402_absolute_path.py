"""CB402: paths that exist on one machine."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.runtime.source import Magic

_PERSONAL = re.compile(
    r"(?:/home/[\w.-]+|/Users/[\w.-]+|/root)(?:/|$)|~(?:/|$)(?!\s)"
    r"|[A-Za-z]:[\\/](?![\\/]|(?i:windows|program files))[\w .$\\/-]"
    r"|\\\\[\w.-]+\\\w"
    r"|/content/(?:drive|sample_data|\w+\.\w+)|/kaggle/(?:input|working)|/Volumes/\w|/media/\w+/"
)
_ABSOLUTE = re.compile(r"/[\w.-]+(?:/[\w. {}*-]+)+/?$")
_EVERYWHERE = re.compile(r"/(?:tmp|dev|proc|sys|etc|usr|bin|opt|var|run|lib|sbin)(?:/|$)")
_OPENERS = words("""
    open Path PurePath listdir scandir walk chdir glob iglob join exists isfile isdir makedirs mkdir load
    save loadtxt savetxt genfromtxt read_csv read_parquet read_json read_excel read_pickle read_feather
    read_table read_hdf to_csv to_parquet to_json to_pickle imread imwrite ImageFolder DatasetFolder
    load_from_disk save_to_disk save_pretrained from_pretrained fromfile memmap load_model copy copyfile
    copytree move rmtree
""")
_PATH_NAME = re.compile(
    r"(?i)(?:^|_)(?:dir|path|root|folder|file|data|base|output|input|ckpt|checkpoint)(?:$|_)|dir$|path$"
)


class AbsolutePath(Rule):
    """The source names a path in a home folder or another absolute path.

    ## What it does

    Reports strings that begin with a home folder (`/home/...`, `/Users/...`, `~/...`, `C:\\\\...`), a
    hosted notebook's own folder (`/content/...`, `/kaggle/...`) or, where a file function or a name such as
    `data_dir` takes it, any other absolute path. System folders such as `/tmp` and `/dev/shm` are left
    alone; files of one folder near the root are reported once.

    ## Why it matters on a cluster

    The job runs in a container, as another user, on another machine. The path is missing there, or, worse,
    holds other data.

    ## Bad example

    ```python
    import pandas as pd

    table = pd.read_csv("/home/anna/data/train.csv")  # <-- here
    data_dir = "/mnt/share/images"  # <-- here
    # %%
    %cd ~/project  # <-- here
    ```

    ## Good example

    ```python
    import pandas as pd

    table = pd.read_csv("data/train.csv")
    scratch = "/tmp/cache"
    route = "/api/v1/items"
    note = "see ~5 percent"
    ```

    ## Remedy

    Use a path relative to the notebook's folder, or make the folder a parameter of the tagged cell.
    """

    code = "CB402"
    name = "absolute-path"

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._seen: set[str] = set()

    def visit_Constant(self, node: ast.AST, cell: CellContext) -> None:
        """Look at strings."""
        assert isinstance(node, ast.Constant)
        value = node.value
        if (
            not isinstance(value, str)
            or len(value) < 2
            or value[0] not in "/~\\ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
        ):
            return
        if value[0] not in "/~\\" and value[1] != ":":
            return
        parent = cell.parents[-1] if cell.parents else None
        if "\n" in value or isinstance(parent, ast.Expr):
            return
        if isinstance(parent, ast.Call) and cell.resolve(parent.func) == "google.colab.drive.mount":
            return  # CB516 says that the mount asks a person
        if isinstance(parent, ast.JoinedStr) and parent.values[0] is not node:  # goes on after something else
            return
        if _PERSONAL.match(value) or (
            _ABSOLUTE.match(value) and not _EVERYWHERE.match(value) and _used_as_path(cell)
        ):
            self._report(node, value, cell)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at the folders that ``%cd`` and ``%run`` name."""
        if magic.name not in ("cd", "pushd", "run") or magic.kind != "line":
            return
        first = magic.body.split("#")[0].strip().strip("\"'")
        if _PERSONAL.match(first) or (first.startswith("/") and not _EVERYWHERE.match(first)):
            self._report(magic, first, cell)

    def _report(self, where: ast.AST | Magic, value: str, cell: CellContext) -> None:
        # all files of one folder near the root are one cause
        place = "/".join(value.replace("\\", "/").split("/")[:4])
        if place not in self._seen and self.report(cell, where, f"`{value[:60]}` names a place on this machine"):
            self._seen.add(place)


def _used_as_path(cell: CellContext) -> bool:
    """Whether a file function or a name that speaks of paths takes the string."""
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, ast.keyword):
        return parent.arg is not None and _PATH_NAME.search(parent.arg) is not None
    if isinstance(parent, ast.JoinedStr) and len(cell.parents) > 1:
        parent = cell.parents[-2]
    if isinstance(parent, ast.Call):
        target = parent.func
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        # str.join and the like take a string in front of the dot
        return name in _OPENERS and not isinstance(getattr(target, "value", None), ast.Constant)
    if isinstance(parent, ast.Assign):
        names = [getattr(target, "id", "") for target in parent.targets]
        return any(_PATH_NAME.search(name) for name in names)
    return False
